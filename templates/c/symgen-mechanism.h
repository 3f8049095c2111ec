/* Steps of mechanisms with direct sensitivities, driven by kernels of any formulation.
 *
 * ALI3-P: the augmented Lagrangian formulation of index 3 with projections of velocities and
 * accelerations, as in Lopez Varela, Dopico and Luaces (2023); numbers in parentheses are those of
 * their equations.  It computes what symgen/simulation/fixed_steps.py computes, with the
 * same names; that file says how the equations are solved.
 *
 * n velocities, nq coordinates (more beside quaternions), m constraints, s sensitivities, p runtime
 * parameters.  Matrices are dense and stored row by row; those of sensitivities have s columns.
 */
#ifndef SYMGEN_MECHANISM_H
#define SYMGEN_MECHANISM_H

#ifdef SYMGEN_MECHANISM_CODE  /* defined where these steps are compiled */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#endif

#include "symgen-manifolds.h"
#include "symgen-penalty.h"

enum { MOST_CALL_INPUTS = 8, MOST_CALL_OUTPUTS = 8 };

/* What kernels take. */
enum { OF_Q, OF_QD, OF_QDD, OF_TAU, OF_MULTIPLIERS, OF_T, OF_LOADS, OF_PARAMETERS,
       OF_MOTION_MULTIPLIERS, QUANTITIES };

struct symgen_call {
    int (*kernel)(const double **x, double **y);
    int inputs, input[MOST_CALL_INPUTS];
};

/* The kernels, in the order of their table in the wrapper. */
enum {
    INVERSE_DYNAMICS, TORQUE, CONSTRAINTS, JACOBIAN, RATES, BIAS, ACCELERATION, RATE_SLOPES,
    INVERSE_DYNAMICS_P, TORQUE_P, CONSTRAINTS_P, RATES_P, ACCELERATION_P, OUTPUTS, OUTPUTS_SLOPES,
    MASS_MATRIX, BIAS_FORCES, OUTPUTS_MULTIPLIERS, CALLS
};

struct symgen_mechanism {
    int n, nq, m, p, loads, outputs;  /* loads: six numbers each */
    int joints;  /* those with a quaternion */
    const struct symgen_joint *joint;
    int tells;  /* whether outputs mention multipliers of constraints and projections */
    const int *row_unit;  /* m, see symgen/runtime/closure.py */
    int velocities;  /* whether some constraints are of velocities, */
    const int *velocity_row;  /* m: 1 for these */
    struct symgen_call call[CALLS];
};

/* What is asked for: see symgen.simulate.  P is a projection matrix, or NULL for M or, where
 * `tangent` is set, A.  Sensitivity k belongs to the runtime parameter with the number parameter[k],
 * or to none where that is -1. */
struct symgen_request {
    double penalty;
    int projections, tangent, s, objectives;
    const double *P, *tau, *loads, *parameters;
    const int *parameter, *objective;
};

#ifdef SYMGEN_MECHANISM_CODE

enum { MOST_NEWTON_STEPS = 12, MOST_PENALTIES = 3, MOST_HALVINGS = 10 };
static const double NEAR = 0.5, SLIGHT = 1e-7;  /* of an extrapolated change: relative; rad or m */
static const double CONVERGED = 1e-11, PENALTY = 1e5, STRONGER = 1e4, TINY = 1e-300;

/* ---- memory ---- */

struct symgen_state {
    double *q, *qd, *qdd, *lam, *sigma, *kappa;
    double *d_q, *d_qd, *d_qdd, *d_lam, *d_sigma, *d_kappa;
};

struct symgen_work {
    const struct symgen_mechanism *of;
    const struct symgen_request *asked;
    const double *known[QUANTITIES];
    struct symgen_state state, next;  /* each in one piece, so that it is copied at once */
    size_t state_size;
    struct symgen_system left, right;
    double *felt, *by_q, *M, *C, *K, *A, *pull, *curved, *c, *J;
    double *turn, *carry, *bent, *along;  /* on manifolds: T, carry, A of the left side */
    double *low, *by_z;  /* there, or with constraints of velocities: J of the left side; r_z */
    double *qd, *qdd, *moved, *change, *begin, *former, *second, *second_q, *second_qd, *scratch;
    double *above, *below, *x, *last, *d_qd, *d_qdd, *slopes_p, *none;
    double *beside;  /* for `look_beside` */
    double *of_outputs[MOST_CALL_OUTPUTS], *integrand, *integrand_before;
    double *told, *d_told, *of_told;  /* multipliers of outputs (3, m), their derivatives, those by them */
    long halved;
    int alike;    /* last steps of one size, 2 at most, */
    double size;  /* which is this */
    double left_over;  /* by the last correction that did not converge */
};

static double *carve(double *base, size_t *used, size_t size)
{
    double *const found = base ? base + *used : 0;
    *used += size;
    return found;
}

static void state_at(struct symgen_state *state, double *base, size_t *used, const struct symgen_mechanism *of,
                     size_t s)
{
    const size_t n = (size_t)of->n, m = (size_t)of->m;
    double **const one[] = {&state->q, &state->qd, &state->qdd, &state->lam, &state->sigma, &state->kappa};
    double **const all[] = {&state->d_q, &state->d_qd, &state->d_qdd, &state->d_lam, &state->d_sigma,
                            &state->d_kappa};
    for (int i = 0; i < 6; ++i) *one[i] = carve(base, used, i == 0 ? (size_t)of->nq : i < 3 ? n : m);
    for (int i = 0; i < 6; ++i) *all[i] = carve(base, used, (i < 3 ? n : m) * s);
}

/* Give what `look` needs of its own, of the state that it looks at too, its place from `base` on; how
 * many numbers they are. */
static size_t arrange_beside(struct symgen_work *w, double *base)
{
    const struct symgen_mechanism *const of = w->of;
    const size_t n = (size_t)of->n, m = (size_t)of->m, bent = of->joints ? n : 0;
    const size_t slanted = of->velocities ? n : bent;
    const struct {
        double **array;
        size_t size;
    } all[] = {
        {&w->felt, n}, {&w->by_q, n * n}, {&w->M, n * n}, {&w->C, n * n}, {&w->K, n * n}, {&w->A, n * n},
        {&w->pull, n}, {&w->curved, n * n}, {&w->c, m}, {&w->J, m * n}, {&w->bent, bent * n},
        {&w->low, slanted * m}, {&w->by_z, slanted * m}, {&w->second, m}, {&w->qd, n}, {&w->qdd, n},
        {&w->moved, n}, {&w->next.q, (size_t)of->nq}, {&w->next.lam, m}, {&w->scratch, (size_t)of->p},
    };
    size_t used = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) *all[i].array = carve(base, &used, all[i].size);
    return used;
}

static void arrange_system(struct symgen_system *system, double *base, size_t *used, int n, int m)
{
    struct symgen_order *const o = &system->order;
    const size_t N = (size_t)(n + m);
    o->n = n;
    o->m = m;
    system->factors = carve(base, used, N * N);
    system->pivots = (int *)carve(base, used, N);
    o->outside = carve(base, used, N * (size_t)n);
    o->size = carve(base, used, N);
    o->moved = carve(base, used, N * COLUMNS);
    o->near = (uint64_t *)carve(base, used, N * (size_t)words_of(n + m));
    o->row = (int *)carve(base, used, N);
    o->light = (int *)carve(base, used, (size_t)n);
    o->place = (int *)carve(base, used, N);
    o->starts = (int *)carve(base, used, N + 1);
    o->runs = (int *)carve(base, used, N * N / 4 + N);
    for (size_t i = 0; base && i < N * (size_t)n; ++i) o->outside[i] = 1.0;
}

/* Give every array its place from `base` on; how many numbers they are. */
static size_t arrange(struct symgen_work *w, double *base)
{
    const struct symgen_mechanism *const of = w->of;
    const size_t n = (size_t)of->n, m = (size_t)of->m, s = (size_t)w->asked->s, N = n + m;
    const size_t p = (size_t)of->p, k = (size_t)of->outputs, wide = s ? s : 1, bent = of->joints ? n : 0;
    const size_t blocks = BLOCK * (size_t)of->joints, slanted = of->velocities ? n : bent;
    const size_t sizes[MOST_CALL_OUTPUTS] = {k, k, k * n, k * n, k * n, k * n, k * (size_t)of->loads, k * p};
    const struct {
        double **array;
        size_t size;
    } all[] = {
        {&w->felt, n}, {&w->by_q, n * n}, {&w->M, n * n}, {&w->C, n * n},
        {&w->K, n * n}, {&w->A, n * n}, {&w->pull, n}, {&w->curved, n * n}, {&w->c, m}, {&w->J, m * n},
        {&w->turn, blocks}, {&w->carry, blocks}, {&w->bent, bent * n}, {&w->low, slanted * m},
        {&w->by_z, slanted * m}, {&w->along, bent * wide},
        {&w->qd, n}, {&w->qdd, n}, {&w->moved, n}, {&w->change, n}, {&w->begin, n}, {&w->former, n}, {&w->second, m},
        {&w->second_q, m * n}, {&w->second_qd, m * n}, {&w->scratch, 3 * n * n + n},
        {&w->above, n * wide}, {&w->below, m * wide}, {&w->x, N * wide}, {&w->last, N * wide},
        {&w->d_qd, n * wide}, {&w->d_qdd, n * wide},
        {&w->slopes_p, (n > m ? n : m) * p}, {&w->none, N * wide},
        {&w->integrand, k * (1 + s)}, {&w->integrand_before, k * (1 + s)},
        {&w->told, 3 * m}, {&w->d_told, 3 * m * s}, {&w->of_told, 3 * m * k * (size_t)of->tells},
    };
    struct symgen_work other = *w;
    size_t used = 0;
    state_at(&w->state, base, &used, of, s);
    w->state_size = used;
    state_at(&w->next, base, &used, of, s);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) *all[i].array = carve(base, &used, all[i].size);
    for (int i = 0; i < MOST_CALL_OUTPUTS; ++i) w->of_outputs[i] = carve(base, &used, sizes[i]);
    w->beside = carve(base, &used, s && w->asked->tangent ? arrange_beside(&other, 0) : 0);
    arrange_system(&w->left, base, &used, (int)n, (int)m);
    arrange_system(&w->right, base, &used, (int)n, (int)m);
    return used;
}

/* ---- kernels ---- */

static void call_kernel(const struct symgen_mechanism *of, const double *const *known, int which, double **y)
{
    const struct symgen_call *const call = &of->call[which];
    const double *x[MOST_CALL_INPUTS];
    for (int i = 0; i < call->inputs; ++i) x[i] = known[call->input[i]];
    call->kernel(x, y);
}

static void run(const struct symgen_work *w, int which, double **y)
{
    call_kernel(w->of, w->known, which, y);
}

static void set_motion(struct symgen_work *w, const double *q, const double *qd, const double *qdd)
{
    w->known[OF_Q] = q;
    w->known[OF_QD] = qd;
    w->known[OF_QDD] = qdd;
}

/* target (rows, s) += sign * derivatives of a function by every sensitivity that is a parameter. */
static void add_by_parameters(struct symgen_work *w, int which, int rows, double sign, double *target)
{
    const int s = w->asked->s, p = w->of->p;
    if (!p) return;
    run(w, which, &w->slopes_p);
    for (int k = 0; k < s; ++k) {
        const int number = w->asked->parameter[k];
        if (number < 0) continue;
        for (int i = 0; i < rows; ++i) target[i * s + k] += sign * w->slopes_p[i * p + number];
    }
}

/* ---- manifolds ---- */

/* target (rows, s) = matrix (rows, inner) . b (inner, s) */
static void set_product(int rows, int inner, int s, const double *matrix, const double *b, double *target)
{
    memset(target, 0, sizeof(double) * (size_t)(rows * s));
    add_product(rows, inner, s, 1.0, matrix, b, target);
}

/* The left side of (9) with K T and Phi_z T instead of K and Phi_z. */
static void bend(struct symgen_work *w, double h)
{
    const struct symgen_mechanism *const of = w->of;
    const double *const by_z = of->velocities ? w->by_z : w->J;
    const int n = of->n, m = of->m;
    memcpy(w->bent, w->A, sizeof(double) * (size_t)(n * n));
    memcpy(w->low, by_z, sizeof(double) * (size_t)(m * n));
    add_turned_columns(of->joint, of->joints, n, n, 0.25 * h * h, w->turn, w->K, w->bent);
    add_turned_columns(of->joint, of->joints, m, n, 1.0, w->turn, by_z, w->low);
}

/* Constraints of velocities are h/2 r in (9): c, and by_z, which is h/2 r_z there and J elsewhere. */
static void look_at_rates(struct symgen_work *w, double h)
{
    const int n = w->of->n, m = w->of->m;
    double *rates[] = {w->second, w->by_z};
    run(w, RATE_SLOPES, rates);
    for (int i = 0; i < m; ++i) {
        if (w->of->velocity_row[i]) w->c[i] = 0.5 * h * w->second[i];
        for (int j = i * n; j < (i + 1) * n; ++j) w->by_z[j] = w->of->velocity_row[i] ? 0.5 * h * w->by_z[j] : w->J[j];
    }
}

/* J of the lower row: h/2 r_z + J for constraints of velocities. */
static void add_to_low(struct symgen_work *w)
{
    const int n = w->of->n, m = w->of->m;
    if (!w->of->joints) memcpy(w->low, w->by_z, sizeof(double) * (size_t)(m * n));
    for (int i = 0; i < m * n; ++i)
        if (w->of->velocity_row[i / n]) w->low[i] += w->J[i];
}

/* Factorise the left side of (9) and (14). */
static int factorise_left(struct symgen_work *w, double penalty)
{
    const int curved = w->of->joints > 0, slanted = curved || w->of->velocities;
    return factorise(&w->left, curved ? w->bent : w->A, w->J, slanted ? w->low : w->J, w->of->n, w->of->m,
                     penalty);
}

/* ---- one step ---- */

/* z, z*d, z*dd of the trapezoidal rule, `change` beyond the first guess of z. */
static void starred(int size, double h, const double *change, const double *q, const double *qd,
                    const double *qdd, double *z, double *zd, double *zdd)
{
    for (int i = 0; i < size; ++i) {
        z[i] = q[i] + h * qd[i] + 0.5 * h * h * qdd[i] + change[i];
        zd[i] = qd[i] + h * qdd[i] + (2.0 / h) * change[i];
        zdd[i] = qdd[i] + (4.0 / (h * h)) * change[i];
    }
}

/* All that (9) is made of at q, qd, qdd with the multipliers lam. */
static void look(struct symgen_work *w, const double *q, const double *lam, double h)
{
    const int n = w->of->n;
    double *felt[] = {w->felt, w->by_q, w->C, w->M};
    double *pulled[] = {w->pull, w->curved};
    set_motion(w, q, w->qd, w->qdd);
    w->known[OF_MULTIPLIERS] = lam;
    run(w, INVERSE_DYNAMICS, felt);
    run(w, TORQUE, pulled);
    run(w, CONSTRAINTS, &w->c);
    run(w, JACOBIAN, &w->J);
    for (int i = 0; i < n; ++i) w->felt[i] -= w->asked->tau[i];
    for (int i = 0; i < n * n; ++i) {
        w->K[i] = w->by_q[i] + w->curved[i];
        w->A[i] = w->M[i] + 0.5 * h * w->C[i] + 0.25 * h * h * w->K[i];
    }
    if (w->of->velocities) look_at_rates(w, h);
    if (w->of->joints) bend(w, h);
    if (w->of->velocities) add_to_low(w);
}

/* x solves the linear system of (9), with a penalty that holds what J has; 0 where it is singular. */
static int correct(struct symgen_work *w, double penalty, double near)
{
    const int n = w->of->n, m = w->of->m;
    const double size = largest(w->J, m * n), unit = largest(w->A, n * n) / fmax(size * size, TINY);
    penalty = fmax(penalty, PENALTY * unit);
    for (int k = 0; k < MOST_PENALTIES; ++k, penalty *= STRONGER) {
        if (!factorise_left(w, penalty)) return 0;
        if (settle(&w->left, n, m, 1, w->above, w->below, w->x, w->last) <= near) break;
    }
    return 1;
}

/* `change` of the next step, extrapolated from the last ones where they were of the same size. */
static void guess(struct symgen_work *w, double h)
{
    const int n = w->of->n;
    if (w->size != h) w->alike = 0;
    for (int i = 0; i < n; ++i) {
        const double last = w->change[i];
        w->change[i] = w->alike == 0 ? 0.0 : w->alike == 1 ? last : 2.0 * last - w->former[i];
        w->former[i] = last;
    }
    w->size = 0.0;  /* until this step has converged */
}

/* q of `next`, z*d and z*dd with the present `change`; on manifolds T and carry, too. */
static void place(struct symgen_work *w, double h)
{
    const struct symgen_mechanism *const of = w->of;
    const struct symgen_state *const old = &w->state;
    if (!of->joints) {
        starred(of->n, h, w->change, old->q, old->qd, old->qdd, w->next.q, w->qd, w->qdd);
        return;
    }
    starred(of->n, h, w->change, w->none, old->qd, old->qdd, w->moved, w->qd, w->qdd);
    integrate(of->joint, of->joints, of->nq, old->q, w->moved, w->next.q);
    set_operators(of->joint, of->joints, w->moved, w->turn, w->carry);
}

/* (9) by Newton's method from `change`: q and lam of `next`, and z*d, z*dd in qd, qdd.  0 where it fails. */
static int newton(struct symgen_work *w, double h)
{
    const int n = w->of->n, m = w->of->m;
    const double s = 0.25 * h * h;
    double *const q = w->next.q, *const lam = w->next.lam;
    memcpy(lam, w->state.lam, sizeof(double) * (size_t)m);
    for (int step = 0; step <= MOST_NEWTON_STEPS; ++step) {
        place(w, h);
        if (step && w->left_over <= CONVERGED * fmax(1.0, largest(q, w->of->nq))) {
            normalize(w->of->joint, w->of->joints, q);
            return 1;
        }
        if (step == MOST_NEWTON_STEPS) return 0;
        look(w, q, lam, h);
        for (int i = 0; i < n; ++i) w->above[i] = -s * w->felt[i];
        for (int i = 0; i < m; ++i) w->below[i] = -w->c[i];
        if (!correct(w, s * w->asked->penalty, 0.01 * CONVERGED * fmax(1.0, largest(q, w->of->nq)))) return 0;
        w->left_over = largest(w->x, n);
        if (!(w->left_over < HUGE_VAL)) return 0;
        for (int i = 0; i < n; ++i) w->change[i] += w->x[i];
        for (int i = 0; i < m; ++i) lam[i] = w->x[n + i] / s;
    }
    return 0;
}

/* (9), from an extrapolated change; where that is not near the solution, which may then be another one,
 * from none, as the reference in Python begins. */
static int positions(struct symgen_work *w, double h)
{
    const int n = w->of->n;
    guess(w, h);
    memcpy(w->begin, w->change, sizeof(double) * (size_t)n);
    int solved = newton(w, h);
    if (w->alike && !(solved && distance(w->change, w->begin, n) <= NEAR * largest(w->change, n) + SLIGHT)) {
        memset(w->change, 0, sizeof(double) * (size_t)n);
        solved = newton(w, h);
    }
    if (!solved) return 0;
    w->alike = w->alike < 2 ? w->alike + 1 : 2;
    w->size = h;
    return 1;
}

/* (10) or (11): `value`, z*d or z*dd, becomes what lacks the rate `below` of the constraints. */
static void project(struct symgen_work *w, const double *starred, double *value, double *multipliers)
{
    const int n = w->of->n, m = w->of->m;
    solve(&w->right, n, m, 1, w->none, w->below, w->asked->projections, w->x);
    memcpy(multipliers, w->x + n, sizeof(double) * (size_t)m);
    for (int i = 0; i < n; ++i) value[i] = starred[i] + w->x[i];
}

/* The linear system of (9) at its solution, which (14) has; 0 where it is singular. */
static int linearise(struct symgen_work *w, double h)
{
    look(w, w->next.q, w->next.lam, h);
    return factorise_left(w, w->left.w);
}

static int projections(struct symgen_work *w, double h)
{
    const int n = w->of->n, m = w->of->m;
    struct symgen_state *const next = &w->next;
    const double *const P = w->asked->P ? w->asked->P : w->asked->tangent ? w->A : w->M;
    if (!factorise(&w->right, P, w->J, w->J, n, m, 0.25 * h * h * w->asked->penalty)) return 0;
    set_motion(w, next->q, w->qd, w->qdd);
    run(w, RATES, &w->below);
    for (int i = 0; i < m; ++i) w->below[i] = -w->below[i];
    project(w, w->qd, next->qd, next->sigma);
    set_motion(w, next->q, next->qd, w->qdd);
    run(w, BIAS, &w->below);
    add_product(m, n, 1, 1.0, w->J, w->qdd, w->below);
    for (int i = 0; i < m; ++i) w->below[i] = -w->below[i];
    project(w, w->qdd, next->qdd, next->kappa);
    return largest(next->qdd, n) < HUGE_VAL;
}

#include "symgen-sensitivities.h"

/* ---- the way through time ---- */

/* From `state` at the time t to that h later, in one step where it converges, or else in halves;
 * 0 where even the smallest does not. */
static int advance(struct symgen_work *w, double t, double h, double *integrals, int halvings)
{
    const double end = t + h;
    w->known[OF_T] = &end;
    if (positions(w, h) && (!w->asked->s || linearise(w, h)) && projections(w, h)) {
        if (w->asked->s) sensitivities(w, h);
        memcpy(w->state.q, w->next.q, sizeof(double) * w->state_size);
        add_to_integrals(w, h, integrals);
        return 1;
    }
    if (halvings == MOST_HALVINGS) return 0;
    ++w->halved;
    return advance(w, t, 0.5 * h, integrals, halvings + 1)
        && advance(w, t + 0.5 * h, 0.5 * h, integrals, halvings + 1);
}

/* `steps` steps of size h from the time t.  `state` has all arrays of struct symgen_state, one after the
 * other, and becomes that at the end, as `integrals` do.  `*done` are the steps that were made: all but
 * those after one that fails; `*halved` grows by the steps that were halved.  -1: no memory. */
static int symgen_advance(const struct symgen_mechanism *of, const struct symgen_request *asked, double t,
                          double h, long steps, double *state, double *integrals, long *done, long *halved,
                          double *left_over)
{
    struct symgen_work work, *const w = &work;
    memset(w, 0, sizeof *w);
    w->of = of;
    w->asked = asked;
    double *const block = calloc(arrange(w, 0), sizeof(double));
    if (!block) return -1;
    arrange(w, block);
    memcpy(w->state.q, state, sizeof(double) * w->state_size);
    w->known[OF_TAU] = asked->tau;
    w->known[OF_LOADS] = asked->loads;
    w->known[OF_PARAMETERS] = asked->parameters;
    w->known[OF_T] = &t;
    evaluate_objectives(w, w->integrand_before);
    for (*done = 0; *done < steps; ++*done)
        if (!advance(w, t + (double)*done * h, h, integrals, 0)) break;
    memcpy(state, w->state.q, sizeof(double) * w->state_size);
    *halved += w->halved;
    *left_over = w->left_over;
    free(block);
    return 0;
}

#include "symgen-constrained.h"

#endif
#endif
