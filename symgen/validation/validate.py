"""Validation of a build: every function of every formulation and backend against an independent
numeric model, against each other, and against the laws of mechanics.

`validate` compares with `NumericRobot`, which shares no code with the derivation, and then runs
the checks of `symgen.runtime.checks`.  A model with a type of joint that `NumericRobot` cannot
read is not compared with it, and one row says so; all else is checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, compress, count

import numpy as np

from symgen.description import RobotDescription
from symgen.description.expressions import EvaluationError, evaluate
from symgen.errors import ModelError, ValidationError
from symgen.runtime import comparison, limits
from symgen.runtime.agreement import agreement
from symgen.runtime.checks import (
    CHANGED,
    between,
    changed_parameters,
    check_evaluations,
    rows_of_one,
    with_parameters,
)
from symgen.runtime.domain import (
    left_out,
    model_has_values,
    share_smoothness,
    states_in_domain,
    states_with_values,
)
from symgen.runtime.evaluation import (
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
from symgen.support.journal import Progress, silent
from symgen.validation.conditioning import condition, mass_terms
from symgen.validation.oracle_constraints import constraint_names
from symgen.validation.oracle_expressions import parameter_values, reader
from symgen.validation.oracle_model import configuration, coupling, joint_term_numbers, unread_types
from symgen.validation.oracles import NumericRobot, ParametrisedRobot, lagrange_and_power

INDEPENDENT = "the independent numeric model"
UNREAD = f"{INDEPENDENT} cannot read"


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


class Beginning:
    """A validation under way: states, what is known of the robot, and the rows made so far.

    `robot` is the independent numeric model, None where that cannot read the joints of some types,
    `unread`; then the states depend on the subjects.
    """

    def __init__(
        self,
        description: RobotDescription,
        subjects: Sequence[Subject],
        samples: int | None,
        runtime: tuple[str, ...],
    ) -> None:
        start = time.perf_counter()
        self.unread = unread_types(description)
        self.robot = None if self.unread else NumericRobot(description, runtime=runtime)
        self.condition = condition(description)
        self.states = _states(description, self.robot, subjects, samples, runtime)
        self.facts = _facts(description, self.robot, self.condition)
        self._evaluations: dict[int, Evaluation] = {}
        self._rows: dict[tuple[bool, int], tuple[Check, ...]] = {}
        self.seconds = time.perf_counter() - start

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The subjects that were checked."""
        return tuple(s.subject for s in self._evaluations.values())

    @cached_property
    def oracle(self) -> Evaluation | None:
        """The numeric model on these states."""
        if self.robot is None:
            return None
        return Evaluation(_independent(self.robot), self.states, self.facts)

    def evaluations(self, subjects: Sequence[Subject]) -> list[Evaluation]:
        """The subjects on these states, each evaluated once."""
        for x in subjects:
            if id(x) not in self._evaluations:
                self._evaluations[id(x)] = Evaluation(x, self.states, self.facts)
        return [self._evaluations[id(x)] for x in subjects]

    def rows(
        self, evaluations: Sequence[Evaluation], part: Part, *, independent: bool
    ) -> dict[int, tuple[Check, ...]]:
        """Rows by the `id` of the evaluation, against the numeric model or all others; those that
        were made before are passed on again."""
        if independent and self.oracle is None:
            return {}
        for s in evaluations:
            key = independent, id(s)
            new = _independent_rows(self.oracle, s) if independent else rows_of_one(s, evaluations)
            self._rows[key] = tuple(part(self._rows.get(key, new)))
        return {id(s): self._rows[independent, id(s)] for s in evaluations}


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
    beginning = Beginning(description, subjects, samples, runtime)
    evaluations = beginning.evaluations(subjects)
    part = parts(progress, 2 * len(evaluations))
    with without_warnings():
        beginning.rows(evaluations, part, independent=True)
        beginning.rows(evaluations, part, independent=False)
    beginning.seconds = time.perf_counter() - start
    return beginning


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
    begun = beginning or Beginning(description, subjects, samples, runtime)
    start = time.perf_counter() - begun.seconds
    evaluations, robot = begun.evaluations(subjects), begun.robot
    part = parts(progress, (1 + (robot is not None)) * len(evaluations) + bool(runtime))
    with without_warnings():
        if robot is None or begun.oracle is None:
            rows = [_not_compared(begun.unread)]
        else:
            two_ways = _two_ways(robot, begun.states, begun.facts)
            rows = [*two_ways, *left_out(evaluations, begun.oracle)]
            rows += chain(*begun.rows(evaluations, part, independent=True).values())
        other_rows = begun.rows(evaluations, part, independent=False)
        rows += check_evaluations(evaluations, other_rows)
        if runtime:
            defaults = [description.parameter_values[name] for name in runtime]
            changed = with_parameters(begun.states, changed_parameters(defaults))
            more = (description, subjects, changed, runtime, robot, begun.condition)
            rows += part(_changed_rows(*more))
    return ValidationResult(tuple(rows), time.perf_counter() - start)


Part = Callable[[Iterable[Check]], Iterator[Check]]
"""A function that yields the rows of one part of a validation, and reports each."""


def parts(progress: Progress, total: int) -> Part:
    """A function that yields the rows of one of `total` parts, and reports each row."""
    number = count()

    def rows_of(rows: Iterable[Check]) -> Iterator[Check]:
        done = next(number)
        for row in rows:
            progress(f"validate: {row.subject}: {row.name}", done, total)
            yield row

    return rows_of


def _states(
    description: RobotDescription,
    robot: NumericRobot | None,
    subjects: Sequence[Subject],
    samples: int | None,
    runtime: tuple[str, ...],
) -> States:
    n = len(description.coordinate_names)
    drawn = partial(
        random_states, n, len(description.loads),
        parameters=[description.parameter_values[name] for name in runtime],
        configuration=configuration(description),
        constraints=description.n_constraints,
        told=description.n_constraints * description.tells_multipliers,
        timed=description.is_timed,
    )  # fmt: skip
    states, more = drawn(samples or limits.samples(n)), partial(drawn, seed=2010)
    if robot is not None and (description.relations or description.forces):
        states = _with_values(description, robot, states, more)
    if not description.outputs:
        return states
    holders = subjects if robot is None else [_independent(robot)]
    return states_in_domain(states, more, lambda drawn: _outputs(drawn, holders))


def _with_values(
    description: RobotDescription, robot: NumericRobot, states: States,
    more: Callable[[int], States],
) -> States:  # fmt: skip
    """The states at which relations and forces of the model have values; `ModelError` where there
    are none."""
    has_values, space = partial(model_has_values, ParametrisedRobot(robot)), robot.space
    values = description.parameter_values
    start = space.normalize(np.array([evaluate(x, values) for x in description.initial_q]))
    valued = states_with_values(states, more, has_values, space, start)
    with without_warnings():
        if has_values(valued).all():
            return valued
        rows = np.asarray(robot.constraints(valued.q, t=valued.t))
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
    independent = [joint for joint in description.joints if joint.mimic is None]
    S, o = coupling(description.joints, reader(values))
    return Facts(
        terms,
        None if robot is None else robot.inertial_parameters,
        joint_term_numbers(description.joints, reader(values)),
        np.array([x for joint in independent for x in joint.prescribed], dtype=bool),
        tuple(output.name for output in description.outputs),
        S if len(independent) < len(description.joints) else None,
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
    """The row that replaces the comparison with the numeric model."""
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
            valid = bool(np.isfinite(torques).all())
            valid &= bool(np.isfinite(robot.constraints(states.q, t=states.t)).all())
        except (EvaluationError, ArithmeticError, ValueError):
            valid = False
        if not valid:
            name = "some values have no meaning there, and nothing is compared"
            yield Check(f"{CHANGED[2:]}: {name}", INDEPENDENT, 0.0, 0.0, 0)
            return
    evaluations = [Evaluation(subject, states, facts) for subject in subjects]
    oracle = None if robot is None else Evaluation(_independent(robot), states, facts)
    for s in evaluations:
        yield from _independent_rows(oracle, s, CHANGED)
    yield from between(evaluations)
