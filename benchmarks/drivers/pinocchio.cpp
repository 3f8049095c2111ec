// Pinocchio's algorithms behind C functions: time loops over a pool of states, and one evaluation.
//
// Only headers are used, so that the algorithms are instantiated here, with -O3 -march=native; the
// library in the wheel is compiled for any processor.  A model comes as arrays: bodies stand depth
// first, every joint turns about or moves along the z axis of its frame, or moves freely.

#include <string>
#include <vector>

#include <time.h>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

struct Robot {
    pin::Model model;
    pin::Data data;
    std::vector<Vector> q, qd, x;  // x: accelerations or torques, as the function wants
};

enum Joint { REVOLUTE, PRISMATIC, FREE };

enum Function {
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_DERIVATIVES,
    MASS_MATRIX,
    FORWARD_DYNAMICS,
    FORWARD_DYNAMICS_DERIVATIVES,
    MASS_MATRIX_IN_WORLD_AXES,  // what comes to the same by the other way that Pinocchio offers
    FORWARD_DYNAMICS_IN_WORLD_AXES,
};

inline void call(Robot &robot, int function, std::size_t s)
{
    const pin::Model &model = robot.model;
    pin::Data &data = robot.data;
    switch (function) {
    case INVERSE_DYNAMICS:
        pin::rnea(model, data, robot.q[s], robot.qd[s], robot.x[s]);
        break;
    case INVERSE_DYNAMICS_DERIVATIVES:  // writes data.tau and data.M, too
        pin::computeRNEADerivatives(model, data, robot.q[s], robot.qd[s], robot.x[s]);
        break;
    case MASS_MATRIX:  // the upper triangle
        pin::crba(model, data, robot.q[s], pin::Convention::LOCAL);
        break;
    case MASS_MATRIX_IN_WORLD_AXES:
        pin::crba(model, data, robot.q[s], pin::Convention::WORLD);
        break;
    case FORWARD_DYNAMICS:
        pin::aba(model, data, robot.q[s], robot.qd[s], robot.x[s], pin::Convention::LOCAL);
        break;
    case FORWARD_DYNAMICS_IN_WORLD_AXES:
        pin::aba(model, data, robot.q[s], robot.qd[s], robot.x[s], pin::Convention::WORLD);
        break;
    case FORWARD_DYNAMICS_DERIVATIVES:  // writes data.ddq, too
        pin::computeABADerivatives(model, data, robot.q[s], robot.qd[s], robot.x[s]);
        break;
    }
}

template <class Matrix> double *write(double *out, const Matrix &matrix)
{
    Eigen::Map<RowMatrix>(out, matrix.rows(), matrix.cols()) = matrix;
    return out + matrix.size();
}

double processor_seconds()
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

RowMatrix both_triangles(const pin::Data::MatrixXs &upper)
{
    return RowMatrix(upper.selfadjointView<Eigen::Upper>());
}

pin::JointIndex add_joint(pin::Model &model, int kind, pin::JointIndex parent,
                          const pin::SE3 &placement, const std::string &name)
{
    switch (kind) {
    case PRISMATIC:
        return model.addJoint(parent, pin::JointModelPZ(), placement, name);
    case FREE:
        return model.addJoint(parent, pin::JointModelFreeFlyer(), placement, name);
    default:
        return model.addJoint(parent, pin::JointModelRZ(), placement, name);
    }
}

}  // namespace

extern "C" {

// parents: the number of the parent body, -1 for the base; kinds: those of enum Joint; placements:
// rotation (row by row) and position of each joint frame in its parent's; inertias: xx yy zz xy xz
// yz about the centre of mass.
void *pinocchio_new(int bodies, const int *parents, const int *kinds, const double *placements,
                    const double *masses, const double *centers, const double *inertias,
                    const double *gravity)
{
    pin::Model model;
    model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
    for (int i = 0; i < bodies; i++) {
        const double *place = placements + 12 * i, *j = inertias + 6 * i;
        const Eigen::Matrix3d rotation =
            Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(place);
        const pin::SE3 placement(rotation, Eigen::Map<const Eigen::Vector3d>(place + 9));
        const pin::JointIndex parent = parents[i] + 1;
        const pin::JointIndex joint =
            add_joint(model, kinds[i], parent, placement, std::to_string(i));
        Eigen::Matrix3d tensor;
        tensor << j[0], j[3], j[4], j[3], j[1], j[5], j[4], j[5], j[2];
        model.appendBodyToJoint(
            joint,
            pin::Inertia(masses[i], Eigen::Map<const Eigen::Vector3d>(centers + 3 * i), tensor),
            pin::SE3::Identity());
    }
    pin::Data data(model);
    return new Robot{model, data, {}, {}, {}};
}

void pinocchio_delete(void *robot) { delete static_cast<Robot *>(robot); }

// Copies the pool of states over which the loops go.
void pinocchio_states(void *robot, int samples, const double *q, const double *qd, const double *x)
{
    Robot &r = *static_cast<Robot *>(robot);
    const int n = r.model.nv, nq = r.model.nq;
    r.q.clear(), r.qd.clear(), r.x.clear();
    for (int s = 0; s < samples; s++) {
        r.q.push_back(Eigen::Map<const Vector>(q + s * nq, nq));
        r.qd.push_back(Eigen::Map<const Vector>(qd + s * n, n));
        r.x.push_back(Eigen::Map<const Vector>(x + s * n, n));
    }
}

// Writes the results of one sample one after the other, matrices row by row.
void pinocchio_evaluate(void *robot, int function, int sample, double *out)
{
    Robot &r = *static_cast<Robot *>(robot);
    const pin::Data &d = r.data;
    call(r, function, sample);
    switch (function) {
    case INVERSE_DYNAMICS:
        write(out, d.tau);
        break;
    case INVERSE_DYNAMICS_DERIVATIVES:
        write(write(write(write(out, d.tau), d.dtau_dq), d.dtau_dv), both_triangles(d.M));
        break;
    case MASS_MATRIX:
    case MASS_MATRIX_IN_WORLD_AXES:
        write(out, both_triangles(d.M));
        break;
    case FORWARD_DYNAMICS:
    case FORWARD_DYNAMICS_IN_WORLD_AXES:
        write(out, d.ddq);
        break;
    case FORWARD_DYNAMICS_DERIVATIVES:
        write(write(write(write(out, d.ddq), d.ddq_dq), d.ddq_dv), both_triangles(d.Minv));
        break;
    }
}

// Seconds of processor time that `calls` calls take, over the pool of states in turn.
double pinocchio_time(void *robot, int function, long calls)
{
    Robot &r = *static_cast<Robot *>(robot);
    const std::size_t samples = r.q.size();
    const double start = processor_seconds();
    for (std::size_t s = 0; calls > 0; calls--) {
        call(r, function, s);
        s = s + 1 == samples ? 0 : s + 1;
    }
    return processor_seconds() - start;
}

}  // extern "C"
