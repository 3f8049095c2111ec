"""The model without any dynamics as a program: the right side of many relations.

It holds inertial parameters, joint terms, axes of joints, flags of prescribed joints, runtime
parameters, and the expressions of outputs.  Joint terms and outputs are implemented a second time
here, so that the relations test them, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symgen.algebra.linear import Vector, inner
from symgen.algebra.nodes import NEG, SYMBOL, Scalar
from symgen.description.quantities import (
    AXES,
    CENTER_OF_MASS,
    LOADS,
    MULTIPLIERS,
    POINT_PARTS,
    POINTS,
    RATES,
    SINGLE,
    TYRES,
    WRENCH_PARTS,
    WRENCHES,
    quantity,
)
from symgen.exact.movements import DISPLACEMENTS, displacements
from symgen.formulations import declare_inputs, state_of_joints
from symgen.formulations.manifolds.tangent import Stretch, is_sprung
from symgen.formulations.state import State
from symgen.kinematics.euler_parameters import Turning
from symgen.kinematics.joint import Joint
from symgen.kinematics.scalars import scalar, with_definitions
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import Program

MODEL = "model"
"""Formulation and function in the key of the program of the model; its outputs follow."""

RUNTIME = "runtime_parameters"
"""The symbols of the runtime parameters."""

GRAVITY = "gravity"
"""The acceleration of gravity."""

SIDES = "wrenches of columns"
"""Rows of flags that mark the joint wrench of every joint, for models with quaternions."""

VELOCITY_ROWS = "constraints of velocities"
"""Flags of the constraints that are relations of velocities."""

RELATIONS = "relations of velocities"
"""Their expressions, over symbols for their quantities; 0 for other constraints."""

FORCES = "forces of the model"
"""An output without entries, for models with forces."""

EXPRESSIONS = "expressions of the outputs"
"""The outputs of the model, over symbols for their quantities; none if some are of tyres."""

NAMES = "names of "
"""Prefix of the name of an array: symbols of the quantities that its entries are."""

_THREES = (POINT_PARTS[:3], POINT_PARTS[3:6], POINT_PARTS[6:])

Key = tuple[str, str]
"""Formulation and function."""

Entries = tuple[Scalar, ...]


def model_program(tree: KinematicTree[Scalar]) -> Program[Scalar]:
    """Write the program of the model: inertial parameters, joint terms, axes."""
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, "outputs")
    builder.parameters(tree.parameter_names)
    n, joints = len(tree.independent), state_of_joints(tree, state)
    motion = list(zip(tree.joints, joints.q, joints.qd, joints.qdd, strict=True))
    terms = [_terms(*moving) for moving in motion]
    damping = [_losses(joint, qd)[1] for joint, _, qd, _ in motion]
    springs = [_spring(joint, q) for joint, q, _, _ in motion]
    for number, torque in _springs_on_manifolds(tree, state.q).items():
        springs[number - 1] = springs[number - 1] + torque
        terms[number - 1] = terms[number - 1] + torque
    for number, force in _added_masses(tree, state).items():
        terms[number - 1] = terms[number - 1] + force
    axes = [part for joint in tree.joints for part in _wrench_axis(joint, joints.q, tree)]
    coupling = _coupling(tree)
    builder.output(GRAVITY, (3,), tree.gravity)
    builder.output("parameters", (len(tree.inertial_parameters),), tree.inertial_parameters)
    builder.output("coupling", (tree.n, n), (x for row in coupling for x in row))
    builder.output("terms", (n,), _generalized(coupling, terms))
    squares = [[x * x for x in row] for row in coupling]
    builder.output("damping", (n,), _generalized(squares, damping))
    builder.output("springs", (n,), _generalized(coupling, springs))
    builder.output("axes", (tree.n, 6), axes)
    builder.output("qd", (n,), state.qd)
    builder.output("tau", (n,), state.tau)
    zero, unit = tree.algebra.zero, tree.algebra.one
    algebra = with_definitions(tree.algebra, tree.definitions)
    relations = (relation for relation in tree.relations if relation.is_of_velocities)
    of_velocities = {x.name: scalar(x.expression, algebra) for x in relations}
    builder.output("x", (n,), _argument(tree, "hybrid_dynamics", "x"))
    multipliers = _argument(tree, "inverse_dynamics_hessian", "multipliers")
    builder.output("multipliers", (n,), multipliers)
    builder.output("prescribed", (n,), (unit if j.prescribed else zero for j in tree.independent))
    flags = [unit if x in of_velocities else zero for x in tree.constraint_names]
    builder.output(VELOCITY_ROWS, (len(flags),), flags)
    expressions = [of_velocities.get(x, zero) for x in tree.constraint_names]
    builder.output(RELATIONS, (len(flags),), expressions)
    runtime = tree.runtime_parameters
    builder.output(RUNTIME, (len(runtime),), map(tree.algebra.symbol, runtime))
    if tree.manifolds:
        rows = displacements(tree, state.q)
        builder.output(DISPLACEMENTS, (len(rows), n), (x for row in rows for x in row))
        last = [next(k for k in tree.link_sides if k >= j.number) for j in tree.joints]
        sides = [unit if k == number else zero for number in last for k in tree.link_sides]
        builder.output(SIDES, (tree.n, len(tree.link_sides)), sides)
    if tree.forces:
        builder.output(FORCES, (0,), ())
    if tree.outputs or of_velocities:
        _write_outputs(tree, builder)
    return builder.build(tree.name, MODEL, MODEL, {})


def _coupling(tree: KinematicTree[Scalar]) -> list[list[Scalar]]:
    """Rates of joints per coordinate rate; each row has one entry that is not 0."""
    zero, unit = tree.algebra.zero, tree.algebra.one
    rows = [[zero] * len(tree.independent) for _ in tree.joints]
    for row, joint, k in zip(rows, tree.joints, tree.coordinate_numbers, strict=True):
        row[k - 1] = unit if joint.following is None else joint.following.multiplier
    return rows


def _generalized(coupling: Sequence[Sequence[Scalar]], torques: Sequence[Scalar]) -> list[Scalar]:
    """Generalized forces of torques at the joints."""
    return [inner(column, torques) for column in zip(*coupling, strict=True)]


def _argument(tree: KinematicTree[Scalar], function: str, argument: str) -> tuple[Scalar, ...]:
    """Return the symbols of an argument of a function."""
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    declare_inputs(tree, builder, function)
    return builder.declared(argument).symbols


def runtime_parameters(programs: Mapping[Key, Program[Scalar]]) -> tuple[str, ...]:
    """Names of the runtime parameters; none if the program of the model is missing."""
    model = programs.get((MODEL, MODEL))
    outputs = () if model is None else model.outputs
    return tuple(x.name for output in outputs if output.name == RUNTIME for x in output.entries)


def gravity_symbols(programs: Mapping[Key, Program[Scalar]]) -> list[str] | None:
    """Names of the symbols that gravity consists of; None if it is not made of symbols."""
    model = programs.get((MODEL, MODEL))
    if model is None:
        return None
    (entries,) = (output.entries for output in model.outputs if output.name == GRAVITY)
    parts = [x.args[0] if x.op is NEG else x for x in entries if not x.is_zero]
    return [x.name for x in parts] if all(x.op is SYMBOL for x in parts) else None


def _write_outputs(tree: KinematicTree[Scalar], builder: ProgramBuilder[Scalar]) -> None:
    """Write the expressions of the outputs over symbols for quantities, and the quantities that the
    entries of arrays are."""
    algebra = with_definitions(tree.algebra, tree.definitions)
    if not has_outputs_of_tyres(tree):
        expressions = [scalar(output.expression, algebra) for output in tree.outputs]
        builder.output(EXPRESSIONS, (len(expressions),), expressions)
    for array, names in _quantities(tree).items():
        builder.output(NAMES + array, (len(names),), map(tree.algebra.symbol, names))
    multipliers = ("motion_multipliers",) if tree.tells_multipliers else ()
    for argument in ("t", "q", "qdd", "loads", *multipliers):
        declared = builder.declared(argument)
        builder.output(argument, declared.shape, declared.symbols)


def has_outputs_of_tyres(tree: KinematicTree[Scalar]) -> bool:
    """Whether an output is one of a tyre, which is no result of another function."""
    names = {name for output in tree.outputs for name in output.expression.names}
    return any(name.startswith(f"{TYRES}.") for name in names)


def _quantities(tree: KinematicTree[Scalar]) -> dict[str, list[str]]:
    """Return the quantities that the entries of arguments and results are, by array."""
    coordinates = [joint.name for joint in tree.independent]
    joints = [joint.name for joint in tree.joints]
    points = [point.name for point in tree.points]
    loads = [load.name for load in tree.loads]
    motion = ("position", "velocity", "acceleration")
    names = {
        array: [quantity(POINTS, point, part) for point in points for part in parts]
        for array, parts in zip(motion, _THREES, strict=True)
    }
    names |= {rate: [quantity(rate, name) for name in coordinates] for rate in RATES}
    names["q"] = _positions(tree, names["q"])
    names["joint_wrenches"] = [
        quantity(WRENCHES, joints[k - 1], part) for k in tree.link_sides for part in WRENCH_PARTS
    ]
    names["loads"] = [quantity(LOADS, load, part) for load in loads for part in WRENCH_PARTS]
    if tree.tells_multipliers:
        names["motion_multipliers"] = [
            quantity(family, name) for family in MULTIPLIERS for name in tree.constraint_names
        ]
    names["center_of_mass"] = [quantity(CENTER_OF_MASS, part) for part in AXES]
    return names | {single: [single] for single in SINGLE}


def _positions(tree: KinematicTree[Scalar], names: Sequence[str]) -> list[str]:
    """Return the quantities that the entries of q are; outputs cannot use those of quaternions."""
    names_of_q = [f"{index}: of no output" for index in range(tree.sizes["nq"])]
    for name, place in zip(names, tree.q_indices, strict=True):
        if place is not None:
            names_of_q[place] = name
    return names_of_q


def _terms(joint: Joint[Scalar], q: Scalar, qd: Scalar, qdd: Scalar) -> Scalar:
    terms = joint.terms
    rotor = terms.rotor_inertia * terms.gear_ratio * terms.gear_ratio * qdd
    return rotor + _spring(joint, q) + _losses(joint, qd)[0]


def _spring(joint: Joint[Scalar], q: Scalar) -> Scalar:
    return joint.terms.stiffness * (q - joint.terms.rest)


def _springs_on_manifolds(tree: KinematicTree[Scalar], q: Sequence[Scalar]) -> dict[int, Scalar]:
    """Torques of springs of joints on manifolds, by the number of the joint of the column."""
    return {
        number: tree.joint(number).terms.stiffness * x
        for manifold in tree.manifolds
        if is_sprung(tree, manifold)
        for number, x in zip(
            manifold.columns, Stretch.of(manifold, q, tree.algebra).entries, strict=True
        )
    }


def _added_masses(tree: KinematicTree[Scalar], state: State[Scalar]) -> dict[int, Scalar]:
    """m (v' + w x v) of free joints, by the number of the joint of the column."""
    forces: dict[int, Scalar] = {}
    for manifold in tree.manifolds:
        if tree.algebra.is_zero(manifold.added_mass):
            continue
        places = [tree.coordinate_numbers[number - 1] - 1 for number in manifold.columns]
        v, w = (Vector(*(state.qd[k] for k in part)) for part in (places[:3], places[3:]))
        travel = Vector(*(state.qdd[k] for k in places[:3])) + w.cross(v)
        forces |= zip(manifold.sliding, travel * manifold.added_mass, strict=True)
    return forces


def _losses(joint: Joint[Scalar], qd: Scalar) -> tuple[Scalar, Scalar]:
    """Torque of damping and friction, and its slope by qd."""
    terms, graph = joint.terms, qd.graph
    slip = graph.function("tanh", qd / terms.friction_velocity)
    turn = (1.0 - slip * slip) / terms.friction_velocity
    ahead, behind = (1.0 + slip) / 2.0, (1.0 - slip) / 2.0
    damping = terms.damping * ahead + terms.damping_backward * behind
    friction = terms.friction * ahead + terms.friction_backward * behind
    by_slip = terms.damping - terms.damping_backward, terms.friction - terms.friction_backward
    slope = (
        damping + by_slip[0] * turn / 2.0 * qd + friction * turn + by_slip[1] * turn / 2.0 * slip
    )
    static = terms.static_friction * ahead + terms.static_friction_backward * behind
    if (static - friction).is_zero:
        return damping * qd + friction * slip, slope
    ratio = qd / terms.stribeck_velocity
    decay = graph.function("exp", -(ratio * ratio))
    more = static - friction
    changed = (terms.static_friction - terms.static_friction_backward - by_slip[1]) * turn / 2.0
    slope = slope + decay * (more * turn + changed * slip)
    slope = slope - 2.0 * ratio / terms.stribeck_velocity * decay * more * slip
    return damping * qd + (friction + more * decay) * slip, slope


def _wrench_axis(
    joint: Joint[Scalar], q: Sequence[Scalar], tree: KinematicTree[Scalar]
) -> Iterator[Scalar]:
    """(a, b) such that the wrench (f, m) of the joint has the torque a.f + b.m along its axis."""
    turn, slide = joint.angular_axis(tree.algebra), joint.linear_axis(tree.algebra)
    if (four := tree.turned_by(joint.number)) is not None:
        turn = Turning(four.of(q), (), tree.algebra).axes[four.place(joint.number)]
    arm = joint.wrench_origin(q[joint.number - 1], tree.algebra)
    # turn . (arm x f) = (turn x arm) . f
    yield from slide + turn.cross(arm)
    yield from turn
