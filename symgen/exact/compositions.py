"""What the results of a function make together with the model: the sides of further relations.

    inverse dynamics  = regressor @ inertial parameters + joint terms, without loads
                      = joint wrenches along the axes of the joints + joint terms
    its slopes by qd  = 2 C + damping, for the torques of velocity are quadratic in qd and the
                        Christoffel symbols are symmetric in their last two indices
    slopes of the potential energy by q = gravity forces + springs
    slopes of the poses by q            = what the Jacobians say: dR = omega x R, dx = v
    kinetic energy    = qd^T M qd / 2

The joint terms are written out here a second time, so that the relations test them, too.  What the
model says by itself stands in a program of its own, `model_program`, over the same graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.algebra.graph import Scalar
from symgen.algebra.linear import Vector, inner, total
from symgen.formulations import declare_inputs
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import Size
from symgen.program.program import Output, Program

MODEL = "model"
"""Stands for formulation and function in the key of the model's own program."""

Key = tuple[str, str]
Entries = tuple[Scalar, ...]


def model_program(tree: KinematicTree[Scalar]) -> Program[Scalar]:
    """What the model says without any dynamics: inertial parameters, joint terms, axes."""
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, "inverse_dynamics")
    builder.parameters(tree.parameter_names)
    n = tree.n
    motion = list(zip(tree.joints, state.q, state.qd, state.qdd, strict=True))
    axes = [part for joint, q, _, _ in motion for part in _wrench_axis(joint, q, tree)]
    builder.output("parameters", (10 * n,), tree.inertial_parameters)
    builder.output("terms", (n,), (_terms(*given) for given in motion))
    builder.output("damping", (n,), (_damping(joint, qd) for joint, _, qd, _ in motion))
    builder.output("springs", (n,), (_spring(joint, q) for joint, q, _, _ in motion))
    builder.output("axes", (n, 6), axes)
    builder.output("qd", (n,), state.qd)
    return builder.build(tree.name, MODEL, MODEL, {})


def _terms(joint: Joint[Scalar], q: Scalar, qd: Scalar, qdd: Scalar) -> Scalar:
    terms = joint.terms
    rotor = terms.rotor_inertia * terms.gear_ratio * terms.gear_ratio * qdd
    friction = terms.friction * _slip(joint, qd)
    return rotor + _spring(joint, q) + friction + terms.damping * qd


def _spring(joint: Joint[Scalar], q: Scalar) -> Scalar:
    return joint.terms.stiffness * (q - joint.terms.rest)


def _damping(joint: Joint[Scalar], qd: Scalar) -> Scalar:
    """Slope of damping and friction by qd."""
    terms, slip = joint.terms, _slip(joint, qd)
    return terms.damping + terms.friction / terms.friction_velocity * (1.0 - slip * slip)


def _slip(joint: Joint[Scalar], qd: Scalar) -> Scalar:
    return qd.graph.function("tanh", qd / joint.terms.friction_velocity)


def _wrench_axis(joint: Joint[Scalar], q: Scalar, tree: KinematicTree[Scalar]) -> Iterator[Scalar]:
    """(a, b) such that the wrench (f, m) of the joint has the torque a.f + b.m along its axis."""
    turn, slide = joint.angular_axis(tree.algebra), joint.linear_axis(tree.algebra)
    arm = joint.wrench_origin(q, tree.algebra)  # turn . (arm x f) = (turn x arm) . f
    yield from slide + turn.cross(arm)
    yield from turn


@dataclass(frozen=True)
class Composition:
    """`entries` makes the entries from the outputs, by name, of the programs of `sources`.

    The sources are functions of one formulation; the first is the one that the composition is
    about.  The outputs of the model are among those that `entries` is given.
    """

    name: str
    sources: tuple[str, ...]
    shape: tuple[Size, ...]
    entries: Callable[[Mapping[str, Entries]], Sequence[Scalar]]


def _by_regressor(of: Mapping[str, Entries]) -> list[Scalar]:
    products = _times(of["regressor"], of["parameters"])
    return [x + y for x, y in zip(products, of["terms"], strict=True)]


def _along_axes(of: Mapping[str, Entries]) -> list[Scalar]:
    pairs = zip(of["joint_wrenches"], of["axes"], strict=True)
    products = [x * y for x, y in pairs]
    algebra = products[0].graph
    return [
        total(products[6 * i : 6 * i + 6], algebra) + term for i, term in enumerate(of["terms"])
    ]


def _twice_coriolis(of: Mapping[str, Entries]) -> list[Scalar]:
    n = len(of["damping"])
    doubled = [2.0 * x for x in of["coriolis_matrix"]]
    for i, damping in enumerate(of["damping"]):
        doubled[(n + 1) * i] = doubled[(n + 1) * i] + damping
    return doubled


def _with_springs(of: Mapping[str, Entries]) -> list[Scalar]:
    return [x + y for x, y in zip(of["gravity_forces"], of["springs"], strict=True)]


def _energy(of: Mapping[str, Entries]) -> list[Scalar]:
    momenta = _times(of["mass_matrix"], of["qd"])
    return [inner(momenta, of["qd"]) * 0.5]


def _changes_of_poses(of: Mapping[str, Entries]) -> list[Scalar]:
    """Entries [link, row, column, j] of the derivatives of the poses, as Jacobians tell them."""
    n = len(of["qd"])
    result: list[Scalar] = []
    for link in range(len(of["forward_kinematics"]) // 16):
        pose = of["forward_kinematics"][16 * link : 16 * link + 16]
        jacobian = of["jacobians"][6 * n * link : 6 * n * (link + 1)]
        columns = [
            _change(pose, Vector(*jacobian[j : 3 * n : n]), Vector(*jacobian[3 * n + j :: n]))
            for j in range(n)
        ]
        result += [column[k] for k in range(16) for column in columns]
    return result


def _change(pose: Entries, v: Vector[Scalar], omega: Vector[Scalar]) -> list[Scalar]:
    zero = v.x.graph.zero
    turned = [omega.cross(Vector(pose[k], pose[4 + k], pose[8 + k])) for k in range(3)]
    return [part for row in zip(*turned, v, strict=True) for part in row] + [zero] * 4


def _times(matrix: Entries, vector: Entries) -> list[Scalar]:
    width = len(vector)
    rows = [matrix[start : start + width] for start in range(0, len(matrix), width)]
    return [inner(row, vector) for row in rows]


REGRESSOR = Composition(
    "regressor @ inertial_parameters + joint terms", ("regressor",), ("n",), _by_regressor
)
WRENCHES = Composition(
    "joint_wrenches along the axes + joint terms", ("joint_wrenches",), ("n",), _along_axes
)
CORIOLIS = Composition(
    "2 coriolis_matrix + damping", ("coriolis_matrix",), ("n", "n"), _twice_coriolis
)
GRAVITY = Composition("gravity_forces + springs", ("gravity_forces",), ("n",), _with_springs)
ENERGY = Composition("qd^T mass_matrix qd / 2", ("mass_matrix",), (), _energy)
POSES = Composition(
    "poses changed by jacobians",
    ("jacobians", "forward_kinematics"),
    ("n_links", 4, 4, "n"),
    _changes_of_poses,
)

COMPOSITIONS = (REGRESSOR, WRENCHES, CORIOLIS, GRAVITY, ENERGY, POSES)


def composed(programs: Mapping[Key, Program[Scalar]]) -> dict[Key, Program[Scalar]]:
    """Every composition by every formulation that has its sources: (formulation, name) -> program.

    A program of a composition is that of its first source, with other outputs.
    """
    result: dict[Key, Program[Scalar]] = {}
    model = programs.get((MODEL, MODEL))
    if model is not None and not model.results:
        return {}  # a robot that does not move
    formulations = dict.fromkeys(formulation for formulation, _ in programs)
    for composition in COMPOSITIONS:
        for formulation in formulations:
            found = [programs.get((formulation, source)) for source in composition.sources]
            sources = [program for program in found if program is not None]
            if model is not None and len(sources) == len(found):
                result[formulation, composition.name] = _program(composition, sources, model)
    return result


def _program(
    composition: Composition, sources: Sequence[Program[Scalar]], model: Program[Scalar]
) -> Program[Scalar]:
    outputs = [output for program in (*sources, model) for output in program.outputs]
    entries = tuple(composition.entries({output.name: output.entries for output in outputs}))
    n = len(next(output for output in model.outputs if output.name == "qd").entries)
    sizes = {"n": n, "n_links": len(entries) // (16 * n)}
    shape = tuple(size if isinstance(size, int) else sizes[size] for size in composition.shape)
    return replace(sources[0], outputs=(Output(composition.name, shape, entries),))
