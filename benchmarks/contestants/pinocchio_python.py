"""Pinocchio from Python: the wheel as it is installed, one sample per call."""

import numpy as np

from benchmarks.contestants import installed
from benchmarks.interface import CALL, POOL, Case, NotMeasured
from benchmarks.timing import python_loop

TITLE = "Pinocchio Python"

CALLS = {
    "inverse_dynamics": "rnea",
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "mass_matrix": "crba",
    "forward_dynamics": "aba",
    "forward_dynamics_derivatives": "computeABADerivatives",
}


def missing():
    return None if installed("pinocchio") else "pip install pin"


def versions():
    import pinocchio as pin

    return {"Pinocchio": pin.__version__}


def cases(problem, function, modes):
    if CALL not in modes:
        raise NotMeasured("it takes one sample per call")
    import pinocchio as pin

    bodies = problem.bodies
    model = pinocchio_model(bodies)
    data = model.createData()
    call = getattr(pin, CALLS[function])
    states = [bodies.depth_first(x) for x in problem.arguments(function, POOL)]
    given = dict(zip("abc", (x[0].copy() for x in states), strict=False))
    loop = python_loop(f"f(model, data, {', '.join(given)})",
                       f=call, model=model, data=data, **given)  # fmt: skip

    def values():
        rows = []
        for sample in range(POOL):
            call(model, data, *(x[sample] for x in states))
            rows.append(_results(function, data))
        return tuple(bodies.in_file_order(np.array(x)) for x in zip(*rows, strict=True))

    yield Case("pinocchio_python", function, CALL, 1, loop, values)


def pinocchio_model(bodies):
    """The bodies as a Pinocchio model, in their order."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = bodies.gravity
    for i in range(bodies.count):
        kind = pin.JointModelPZ() if bodies.prismatic[i] else pin.JointModelRZ()
        if bodies.free[i]:
            kind = pin.JointModelFreeFlyer()
        placement = pin.SE3(bodies.rotations[i], bodies.positions[i])
        joint = model.addJoint(int(bodies.parents[i]) + 1, kind, placement, str(i))
        inertia = pin.Inertia(bodies.masses[i], bodies.centers[i], bodies.inertias[i])
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def _results(function, data):
    if function == "inverse_dynamics":
        return [data.tau.copy()]
    if function == "inverse_dynamics_derivatives":
        return [data.tau.copy(), data.dtau_dq.copy(), data.dtau_dv.copy(), _full(data.M)]
    if function == "mass_matrix":
        return [_full(data.M)]
    if function == "forward_dynamics":
        return [data.ddq.copy()]
    return [data.ddq.copy(), data.ddq_dq.copy(), data.ddq_dv.copy(), _full(data.Minv)]


def _full(matrix):
    """Both triangles; Pinocchio fills the upper one."""
    upper = np.triu(matrix)
    return upper + np.triu(upper, 1).T
