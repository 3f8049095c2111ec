"""Validation of a build: every function of every formulation and backend against an independent
numeric model, against each other, and against the laws of mechanics.

`validate` compares with `NumericRobot`, which shares no code with the derivation, and then runs
the checks of `symgen.validation.checks`.  A model with a type of joint that `NumericRobot` cannot
read is not compared with it, and one row says so; all else is checked.  `validate_two_link`
compares the two-link arm with the printed formulas of Xiang, Arora, Abdel-Malek (2009).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np

from symgen.description import RobotDescription, read
from symgen.description.expressions import EvaluationError, evaluate
from symgen.errors import ModelError, ValidationError
from symgen.support.journal import Progress, silent
from symgen.validation import comparison, limits, two_link
from symgen.validation.agreement import agreement
from symgen.validation.checks import (
    CHANGED,
    between,
    changed_parameters,
    check_evaluations,
    rows_of_one,
    with_parameters,
)
from symgen.validation.comparison import relative_error
from symgen.validation.conditioning import condition, mass_terms
from symgen.validation.domain import (
    left_out,
    model_has_values,
    share_smoothness,
    states_in_domain,
    states_with_values,
)
from symgen.validation.evaluation import (
    Array,
    Check,
    Evaluation,
    Facts,
    States,
    Subject,
    call,
    random_states,
    without_warnings,
)
from symgen.validation.oracle_constraints import constraint_names
from symgen.validation.oracle_expressions import parameter_values, reader
from symgen.validation.oracle_model import (
    configuration,
    coupling,
    joint_term_numbers,
    unread_types,
)
from symgen.validation.oracles import NumericRobot, ParametrisedRobot, lagrange_and_power
from symgen.validation.watch import parts

INDEPENDENT = "the independent numeric model"
UNREAD = f"{INDEPENDENT} cannot read"
PRINTED = "eqs. (69)-(82) of Xiang et al. 2009"
PRINTED_FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_load_derivatives",
    "mass_matrix", "coriolis_matrix", "bias_forces", "gravity_forces", "kinetic_energy",
    "forward_dynamics",
)  # fmt: skip
"""The functions that `validate_two_link` compares with them."""


@dataclass(frozen=True)
class ValidationResult:
    """All comparisons of a validation, in the order in which they were made."""

    rows: tuple[Check, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every comparison is within its limit."""
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The rows that are not within their limits."""
        return tuple(row for row in self.rows if not row.passed)

    @property
    def left_out(self) -> tuple[str, ...]:
        """In words, what could not be compared: its row has no samples."""
        return tuple(dict.fromkeys(row.name for row in self.rows if not row.samples))

    @property
    def summary(self) -> str:
        """One line: how many comparisons, what was left out, and what came closest to its limit."""
        made = sum(row.samples > 0 for row in self.rows)
        if not self.passed:
            return f"{len(self.failures)} of {made} checks FAILED"
        text = "; ".join([f"{made} checks passed in {self.seconds:.2f} s", *self.left_out])
        return text if self.closest is None else f"{text}; closest to its limit: {self.closest}"

    @property
    def closest(self) -> Check | None:
        """The comparison that came closest to its limit."""
        allowed = [row for row in self.rows if row.limit > 0.0]
        return max(allowed, key=lambda row: row.error / row.limit, default=None)

    def raise_if_failed(self) -> None:
        """`ValidationError` with the failing rows, each in words."""
        if not self.passed:
            words = [f"{row.subject}: {_in_words(row)}" for row in self.failures]
            raise ValidationError("\n".join([self.summary, *words]), self)

    def __str__(self) -> str:
        return table(self.rows)


def table(rows: Iterable[Check]) -> str:
    """Rows as a table of plain text."""
    lines = [("subject", "check", "error", "limit", "samples", "")]
    for row in rows:
        verdict = "ok" if row.passed else "FAILED"
        figures = f"{row.error:.1e}", f"{row.limit:.1e}", str(row.samples)
        lines.append((row.subject, row.name, *figures, verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _in_words(row: Check) -> str:
    return (
        f"{row.name}: does not hold; relative error {row.error:.2g} on {row.samples} random "
        f"states, where {row.limit:.2g} is allowed"
    )


# ------------------------------------------------------------------------------- any model


@dataclass(frozen=True)
class Ground:
    """On what subjects are compared: states, what is known of the robot, and the independent
    numeric model, None where that cannot read the joints of some types, `unread`."""

    states: States
    facts: Facts
    robot: NumericRobot | None
    terms: float
    unread: Sequence[str]

    @cached_property
    def oracle(self) -> Evaluation | None:
        """The numeric model on these states."""
        if self.robot is None:
            return None
        return Evaluation(_independent(self.robot), self.states, self.facts)


@dataclass(frozen=True)
class Begun:
    """The rows of a subject: against the numeric model, and all others."""

    evaluation: Evaluation
    independent: tuple[Check, ...]
    others: tuple[Check, ...]


@dataclass(frozen=True)
class Beginning:
    """What of a validation needs no compiled code: subjects that are there already, checked."""

    ground: Ground
    begun: tuple[Begun, ...]
    seconds: float

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Those that were checked."""
        return tuple(item.evaluation.subject for item in self.begun)


def begin(
    description: RobotDescription,
    subjects: Sequence[Subject],
    samples: int | None = None,
    *,
    runtime: tuple[str, ...] = (),
    progress: Progress = silent,
) -> Beginning | None:
    """Check some of the subjects that `validate` will be given: all that take complex numbers, in
    the same order.

    None where the numeric model cannot read the robot: then the states depend on all of them.
    """
    start = time.perf_counter()
    if unread_types(description):
        return None
    ground = _ground(description, subjects, samples, runtime)
    evaluations = [Evaluation(subject, ground.states, ground.facts) for subject in subjects]
    part = parts(progress, 2 * len(evaluations))
    with without_warnings():
        independent = [tuple(part(_independent_rows(ground.oracle, e))) for e in evaluations]
        others = [tuple(part(rows_of_one(e, evaluations))) for e in evaluations]
    begun = tuple(map(Begun, evaluations, independent, others))
    return Beginning(ground, begun, time.perf_counter() - start)


def validate(
    description: RobotDescription,
    subjects: Sequence[Subject],
    samples: int | None = None,
    *,
    runtime: tuple[str, ...] = (),
    beginning: Beginning | None = None,
    progress: Progress = silent,
) -> ValidationResult:
    """Check every function of every subject on random states of the described robot.

    `runtime` names the parameters that the subjects take as arguments, in the order of the file;
    they are compared once more where these have other values.  `beginning` is what `begin` has
    made of the same arguments and some of the subjects.  `progress` hears of every comparison.
    """
    start = time.perf_counter()
    ground = beginning.ground if beginning else _ground(description, subjects, samples, runtime)
    states, facts, robot, terms = ground.states, ground.facts, ground.robot, ground.terms
    begun = {id(x.evaluation.subject): x for x in (beginning.begun if beginning else ())}
    evaluations = [
        begun[id(x)].evaluation if id(x) in begun else Evaluation(x, states, facts)
        for x in subjects
    ]
    part = parts(progress, (1 + (robot is not None)) * len(evaluations) + bool(runtime))
    with without_warnings():
        if robot is None or ground.oracle is None:
            rows = [_not_compared(ground.unread)]
        else:
            rows = [*_two_ways(robot, states, facts), *left_out(evaluations, ground.oracle)]
            for s in evaluations:
                known = begun.get(id(s.subject))
                rows += part(known.independent if known else _independent_rows(ground.oracle, s))
        others = {}
        for s in evaluations:
            known = begun.get(id(s.subject))
            here = known.others if known else rows_of_one(s, evaluations)
            others[id(s)] = tuple(part(here))
        rows += check_evaluations(evaluations, others)
        if runtime:
            defaults = [description.parameter_values[name] for name in runtime]
            changed = with_parameters(states, changed_parameters(defaults))
            rows += part(_changed_rows(description, subjects, changed, runtime, robot, terms))
    seconds = time.perf_counter() - start + (beginning.seconds if beginning else 0.0)
    return ValidationResult(tuple(rows), seconds)


def _ground(
    description: RobotDescription,
    subjects: Sequence[Subject],
    samples: int | None,
    runtime: tuple[str, ...],
) -> Ground:
    unread = unread_types(description)
    n = len(description.coordinate_names)
    drawn = partial(
        random_states, n, len(description.loads),
        parameters=[description.parameter_values[name] for name in runtime],
        configuration=configuration(description),
        constraints=description.n_constraints,
        told=description.n_constraints * description.tells_multipliers,
        timed=description.is_timed,
    )  # fmt: skip
    states = drawn(samples or limits.samples(n))
    terms = condition(description)
    robot = None if unread else NumericRobot(description, runtime=runtime)
    more = partial(drawn, seed=2010)
    if robot is not None and (description.relations or description.forces):
        states = _with_values(description, robot, states, more)
    if description.outputs:
        states = states_in_domain(
            states,
            more,
            lambda drawn: _outputs(drawn, subjects if robot is None else [_independent(robot)]),
        )
    return Ground(states, _facts(description, robot, terms), robot, terms, unread)


def _with_values(
    description: RobotDescription, robot: NumericRobot, states: States,
    more: Callable[[int], States],
) -> States:  # fmt: skip
    """The states at which relations and forces of the model have values; `ModelError` where there
    are none."""
    known, space = partial(model_has_values, ParametrisedRobot(robot)), robot.space
    values = description.parameter_values
    start = space.normalize(np.array([evaluate(x, values) for x in description.initial_q]))
    found = states_with_values(states, more, known, space, start)
    with without_warnings():
        if known(found).all():
            return found
        rows = np.asarray(robot.constraints(found.q, t=found.t))
    lost = np.logical_not(np.isfinite(rows).any(axis=0))
    names = set(compress(constraint_names(description), lost.tolist()))
    wrong = [
        relation.source.fault(
            "this relation has no value at any of many random states, nor near the positions under "
            "'initial'; a root or logarithm of what is negative?"
        )
        for relation in description.relations
        if relation.name in names
    ]
    forces = [
        force.source.fault(
            "the forces of this model have no value at any of many random states; a root or "
            "logarithm of what is negative?"
        )
        for force in description.forces[:1]
    ]
    raise ModelError(tuple(wrong or forces))


def _facts(description: RobotDescription, robot: NumericRobot | None, terms: float) -> Facts:
    values = parameter_values(description, {}) if robot is None else robot.values
    own = [joint for joint in description.joints if joint.mimic is None]
    S, o = coupling(description.joints, reader(values))
    return Facts(
        terms,
        None if robot is None else robot.inertial_parameters,
        joint_term_numbers(description.joints, reader(values)),
        np.array([x for joint in own for x in joint.prescribed], dtype=bool),
        tuple(output.name for output in description.outputs),
        S if len(own) < len(description.joints) else None,
        o,
        tuple(joint.link.name for joint in description.joints),
        configuration(description),
        (*["spring"] * len(description.springs), *["force"] * len(description.forces)),
        mass_terms(description, terms),
    )


def _outputs(states: States, subjects: Sequence[Subject]) -> Array:
    """The outputs by the first subject that has them; none where none has, (S, n_outputs)."""
    holder = next((s.functions for s in subjects if hasattr(s.functions, "outputs")), None)
    if holder is None:
        return np.zeros((len(states.q), 0))
    return call(holder, "outputs", vars(states))[0]


def _not_compared(unread: Sequence[str]) -> Check:
    """The row that stands in place of the comparison with the numeric model."""
    types = f"joint type{'s' * (len(unread) > 1)} {', '.join(unread)}"
    return Check(f"{UNREAD} {types}: not compared with it", INDEPENDENT, 0.0, 0.0, 0)


def _two_ways(robot: NumericRobot, states: States, facts: Facts) -> Iterator[Check]:
    """The numeric model against itself."""
    oracle = Evaluation(_independent(robot.at_time(states.t)), states, facts)
    yield from comparison.rows((oracle,), lagrange_and_power, robot.n)


def _independent_rows(oracle: Evaluation | None, s: Evaluation, where: str = "") -> Iterator[Check]:
    if oracle is not None:
        yield from agreement(s, oracle, s.states.qd.shape[1], where)
        share_smoothness(oracle, s)


def _independent(robot: NumericRobot) -> Subject:
    functions = ParametrisedRobot(robot)
    return Subject(INDEPENDENT, functions, complex_step=True, arrays=False, independent=True)


def _changed_rows(
    description: RobotDescription,
    subjects: Sequence[Subject],
    states: States,
    runtime: tuple[str, ...],
    robot: NumericRobot | None,
    terms: float,
) -> Iterator[Check]:
    """Where the parameters have other values: against the numeric model, and among each other."""
    facts = _facts(description, None, terms)
    if robot is not None:
        try:
            robot = robot.with_parameters(states.parameters[0])
            facts = _facts(description, robot, terms)
            torques = robot.inverse_dynamics(states.q, states.qd, states.qdd, loads=states.loads)
            known = bool(np.isfinite(torques).all())
            known &= bool(np.isfinite(robot.constraints(states.q, t=states.t)).all())
        except (EvaluationError, ArithmeticError, ValueError):
            known = False
        if not known:
            name = "some values have no meaning there, and nothing is compared"
            yield Check(f"{CHANGED[2:]}: {name}", INDEPENDENT, 0.0, 0.0, 0)
            return
    evaluations = [Evaluation(subject, states, facts) for subject in subjects]
    oracle = None if robot is None else Evaluation(_independent(robot), states, facts)
    for s in evaluations:
        yield from _independent_rows(oracle, s, CHANGED)
    yield from between(evaluations)


# --------------------------------------------------------------------------- the two-link arm


def validate_two_link(
    subjects: Sequence[Subject], arm: two_link.Arm | None = None, samples: int = 1000
) -> ValidationResult:
    """Check subjects that were built from `two_link.yaml` against the printed formulas.

    `arm` replaces the parameters of the file.  The states have gravity and the load
    [0, -f, 0, 0, 0, 0] at the tip.
    """
    start = time.perf_counter()
    states = random_states(2, 1, samples)
    states.loads[:, 0, [0, 2, 3, 4, 5]] = 0.0
    expected = printed_results(arm or _shipped_arm(), states)
    rows: list[Check] = []
    with without_warnings():
        for subject in subjects:
            s = Evaluation(subject, states)
            for name, observe, reference in expected:
                if s.has(name):
                    rows += _printed_rows(s, name, observe(s), reference)
    return ValidationResult(tuple(rows), time.perf_counter() - start)


Observation = Callable[[Evaluation], tuple[Any, ...]]


def printed_results(
    p: two_link.Arm, states: States
) -> list[tuple[str, Observation, tuple[Any, ...]]]:
    """Per function: its name, what to compare, and what the printed formulas say."""
    q, qd, qdd = states.q.T, states.qd.T, states.qdd.T
    zero = 0.0 * q
    f = -states.loads[:, 0, 1]
    tau = _vector(two_link.torques(p, q, qd, qdd, f))
    slopes = (
        _matrix(two_link.position_gradients(p, q, qd, qdd, f)),
        _matrix(two_link.velocity_gradients(p, q, qd)),
        _matrix(two_link.acceleration_gradients(p, q)),
    )
    weight = _vector(two_link.torques(p, q, zero, zero, 0.0 * f))
    bias = _vector(two_link.torques(p, q, qd, zero, f))
    pull = _vector(two_link.torques(p._replace(g=0.0), q, zero, zero, 1.0 + 0.0 * f))
    convective = _vector(two_link.torques(p._replace(g=0.0), q, qd, zero, 0.0 * f))
    energy = 0.5 * np.einsum("si,sij,sj->s", states.qd, slopes[2], states.qd)

    def torques_of_found(s: Evaluation) -> tuple[Any, ...]:
        """The printed torques of the accelerations that forward dynamics finds."""
        found = np.asarray(s["forward_dynamics"]).T
        return (_vector(two_link.torques(p, q, qd, found, f)),)

    def whole(name: str) -> Observation:
        return lambda s: tuple(s.results(name))

    return [
        ("inverse_dynamics", whole("inverse_dynamics"), (tau,)),
        ("inverse_dynamics_derivatives", whole("inverse_dynamics_derivatives"), (tau, *slopes)),
        ("inverse_dynamics_load_derivatives", _pull_of_load, (pull,)),
        ("mass_matrix", whole("mass_matrix"), (slopes[2],)),
        ("coriolis_matrix", _convective_torques, (convective,)),
        ("bias_forces", whole("bias_forces"), (bias,)),
        ("gravity_forces", whole("gravity_forces"), (weight,)),
        ("kinetic_energy", whole("kinetic_energy"), (energy,)),
        ("forward_dynamics", torques_of_found, (states.tau,)),
    ]


def _pull_of_load(s: Evaluation) -> tuple[Any, ...]:
    """d tau / d f: the load is -f in the direction of y."""
    return (-np.asarray(s["inverse_dynamics_load_derivatives"])[:, :, 0, 1],)


def _convective_torques(s: Evaluation) -> tuple[Any, ...]:
    return (np.einsum("sij,sj->si", s["coriolis_matrix"], s.states.qd),)


def _printed_rows(
    s: Evaluation, name: str, values: Sequence[Any], references: Sequence[Any]
) -> Iterator[Check]:
    labels = ("", ", dtau_dq", ", dtau_dqd", ", dtau_dqdd")
    for label, value, reference in zip(labels, values, references, strict=False):
        error = relative_error(value, reference)
        what = f"{name}{label} = {PRINTED}"
        yield Check(what, s.subject.name, error, limits.TWO_LINK, len(s.states.q))


def _shipped_arm() -> two_link.Arm:
    return two_link.arm(read(two_link.model_path()).parameter_values)


def _vector(pair: Sequence[Any]) -> Any:
    return np.stack([np.asarray(x) for x in pair], axis=-1)


def _matrix(rows: Sequence[Sequence[Any]]) -> Any:
    columns = np.broadcast_arrays(*(x for row in rows for x in row))
    return np.stack(columns, axis=-1).reshape(*columns[0].shape, 2, 2)
