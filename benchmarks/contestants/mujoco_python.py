"""MuJoCo from Python: what comes closest to each function, one sample per call.

`mj_inverse` and `mj_forward` compute more than is asked for (collisions and constraints are
switched off); derivatives are finite differences, so that they are compared loosely.  MuJoCo wants
every moving body to have a mass and a physical inertia: massless links are merged into the next
one, which then has several joints; a model that it refuses is left out with its words.
"""

import re
from xml.sax.saxutils import quoteattr

import numpy as np

from benchmarks.contestants import installed
from benchmarks.interface import CALL, POOL, Case, NotMeasured
from benchmarks.timing import python_loop

TITLE = "MuJoCo Python"
STEP = 1e-6
"""Of the finite differences."""

FINITE_DIFFERENCES = 1e-4
"""How far those may be off."""


def missing():
    return None if installed("mujoco") else "pip install mujoco"


def versions():
    import mujoco

    return {"MuJoCo": mujoco.__version__}


def cases(problem, function, modes):
    if CALL not in modes:
        raise NotMeasured("it takes one sample per call")
    problem.without_free_bodies("velocities of its free bodies are in other axes")
    robot = Robot(problem.bodies)
    if function == "forward_dynamics_derivatives":
        raise NotMeasured("it has them for steps of integration only")
    states = [robot.ordered(x) for x in problem.arguments(function, POOL)]
    robot.set(function, [x[0] for x in states])
    statement, names = robot.statement(function)

    def values():
        rows = []
        for sample in range(POOL):
            robot.set(function, [x[sample] for x in states])
            rows.append(robot.results(function))
        robot.set(function, [x[0] for x in states])
        return tuple(robot.in_file_order(np.array(x)) for x in zip(*rows, strict=True))

    tolerance = FINITE_DIFFERENCES if function.endswith("_derivatives") else 1e-8
    loop = python_loop(statement, **names)
    yield Case("mujoco_python", function, CALL, 1, loop, values, tolerance)


class Robot:
    """A MuJoCo model of the bodies, and its state."""

    def __init__(self, bodies):
        import mujoco

        self.mujoco, self.bodies = mujoco, bodies
        mujoco.set_mju_user_warning(print)  # else they go into a file in the working directory
        try:
            self.model = mujoco.MjModel.from_xml_string(model_xml(bodies))
        except ValueError as error:
            words = re.sub(r"\s+", " ", str(error)).removeprefix("Error: ")
            raise NotMeasured(words) from error
        self.data = mujoco.MjData(self.model)
        n = bodies.n
        numbers = [self.model.joint(f"j{i}").dofadr[0] for i in range(n)]
        self.places = np.array(numbers)  # body -> place of its coordinate
        self.slopes = [np.zeros((n, n)) for _ in range(3)]
        self.full = np.zeros((n, n))

    def ordered(self, states):
        result = np.empty_like(states)
        result[:, self.places] = self.bodies.depth_first(states)
        return result

    def in_file_order(self, values):
        for axis in range(1, values.ndim):
            values = np.take(values, self.places, axis=axis)
        return self.bodies.in_file_order(values)

    def set(self, function, state):
        data = self.data
        data.qpos[:] = state[0]
        if len(state) == 3:
            data.qvel[:] = state[1]
            target = data.qfrc_applied if function.startswith("forward") else data.qacc
            target[:] = state[2]

    def statement(self, function):
        """What is timed, and the names in it."""
        names = {"model": self.model, "data": self.data, "M": self.full}
        names |= {name: getattr(self.mujoco, name) for name in dir(self.mujoco) if name[:2] == "mj"}
        if function == "inverse_dynamics_derivatives":
            names |= dict(zip(("dq", "dqd", "dqdd"), self.slopes, strict=True))
        return {
            "inverse_dynamics": "mj_inverse(model, data)",
            "inverse_dynamics_derivatives": (
                "mj_inverse(model, data); mjd_inverseFD("
                f"model, data, {STEP}, 0, dq, dqd, dqdd, None, None, None, None)"
            ),
            "mass_matrix": (
                "mj_kinematics(model, data); mj_comPos(model, data); mj_crb(model, data); "
                "mj_fullM(model, data, M)"
            ),
            "forward_dynamics": "mj_forward(model, data)",
        }[function], names

    def results(self, function):
        """Values of the present state."""
        statement, names = self.statement(function)
        python_loop(statement, **names)(1)
        if function == "mass_matrix":
            return [self.full.copy()]
        if function == "forward_dynamics":
            return [self.data.qacc.copy()]
        tau = self.data.qfrc_inverse.copy()
        # its matrices are [i, j] = d tau_j / d q_i
        return [tau, *(x.T.copy() for x in self.slopes)] if "_deriv" in function else [tau]


def model_xml(bodies):
    """The bodies as MJCF, nested as they sit on each other."""
    children = {i: [] for i in range(-1, bodies.n)}
    for i, parent in enumerate(bodies.parents):
        children[int(parent)].append(i)
    lines = [
        "<mujoco><compiler angle='radian' autolimits='false'/>",
        f"<option gravity='{_numbers(bodies.gravity)}'>"
        "<flag contact='disable' constraint='disable'/></option><worldbody>",
    ]
    waiting = [(i, []) for i in reversed(children[-1])]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            lines.append(entry)
            continue
        body, before = entry
        joints = [*before, body]
        if _is_massless(bodies, body) and len(children[body]) == 1:
            waiting.append((children[body][0], joints))  # one body with several joints
            continue
        lines += _opened(bodies, joints)
        waiting.append("</body>")
        waiting += [(i, []) for i in reversed(children[body])]
    return "\n".join([*lines, "</worldbody></mujoco>"])


def _opened(bodies, joints):
    """A body that sits on `joints`, one after the other; the last one is its own."""
    last = joints[-1]
    poses = [_pose(bodies, i) for i in joints]
    at_parent = np.linalg.multi_dot(poses) if len(poses) > 1 else poses[0]
    lines = [f"<body pos='{_numbers(at_parent[:3, 3])}' quat='{_numbers(_quaternion(at_parent))}'>"]
    for k, joint in enumerate(joints):
        seen = np.eye(4)  # the frame of the joint, seen from that of the body
        for pose in poses[k + 1 :]:
            seen = np.linalg.inv(pose) @ seen
        kind = "slide" if bodies.prismatic[joint] else "hinge"
        lines.append(
            f"<joint name={quoteattr(f'j{joint}')} type='{kind}' pos='{_numbers(seen[:3, 3])}' "
            f"axis='{_numbers(seen[:3, 2])}'/>"
        )
    tensor = bodies.inertias[last][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    lines.append(
        f"<inertial pos='{_numbers(bodies.centers[last])}' mass='{float(bodies.masses[last])!r}' "
        f"fullinertia='{_numbers(tensor)}'/>"
    )
    return lines


def _is_massless(bodies, body):
    return not bodies.masses[body] and not bodies.inertias[body].any()


def _pose(bodies, body):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = bodies.rotations[body], bodies.positions[body]
    return pose


def _quaternion(pose):
    """w x y z of a rotation, from the eigenvector that is exact to rounding."""
    R = pose[:3, :3]
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
            [R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
            [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1], 0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    vector = np.linalg.eigh(K)[1][:, -1]
    return vector[[3, 0, 1, 2]]


def _numbers(values):
    return " ".join(repr(float(x)) for x in values)
