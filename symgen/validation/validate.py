"""Validation of a build: every function of every formulation and backend against an independent
numeric model, against each other, and against the laws of mechanics.

`validate` compares with `NumericRobot`, which shares no code with the derivation, and then runs
the checks of `symgen.runtime.checks`.  A model with a type of joint that `NumericRobot` cannot read
is not compared with it, which one row states; all other checks run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, compress, count

import numpy as np

from symgen.description import RobotDescription
from symgen.description.expressions import EvaluationError
from symgen.errors import ModelError, ValidationError
from symgen.kinematics.loops import velocity_rows
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
from symgen.runtime.configuration import Configuration
from symgen.runtime.domain import (
    left_out,
    model_has_values,
    share_smoothness,
    states_in_domain,
    states_with_values,
)
from symgen.runtime.subjects import (
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
from symgen.validation.oracle_expressions import parameter_values, reader
from symgen.validation.oracle_model import configuration, coupling, joint_term_numbers, unread_types
from symgen.validation.oracles import NumericRobot, ParametrisedRobot, lagrange_and_power

INDEPENDENT = "the independent numeric model"
UNREAD = f"{INDEPENDENT} cannot read"
FAR = 0.2
"""Share of a tolerance below which an error is far within it."""


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
        """Descriptions of omitted comparisons, whose rows have no samples."""
        return tuple(dict.fromkeys(row.name for row in self.rows if not row.samples))

    @property
    def summary(self) -> str:
        """One line: number of comparisons, the largest error in tolerances, and omissions."""
        made = [row for row in self.rows if row.samples]
        if not self.passed:
            return f"{len(self.failures)} of {len(made):,} checks FAILED"
        independent = any(INDEPENDENT in row.name for row in made)
        against = " against an independent model" if independent else ""
        parts = [f"{len(made):,} checks passed{against}"]
        if worst := self.closest:
            share = worst.error / worst.limit
            far = "far " if share < FAR else ""
            parts.append(f"all {far}within tolerance (worst: {100 * share:.2g} % of it)")
        return "; ".join([*parts, *self.left_out])

    @property
    def closest(self) -> Check | None:
        """The comparison that came closest to its limit."""
        allowed = [row for row in self.rows if row.limit > 0.0]
        return max(allowed, key=lambda row: row.error / row.limit, default=None)

    def raise_if_failed(self) -> None:
        """Raise `ValidationError` with a sentence for each failing row."""
        if not self.passed:
            failures = [
                f"{row.subject}: {row.name}: does not hold; relative error {row.error:.2g} on "
                f"{row.samples} random states, where {row.limit:.2g} is allowed"
                for row in self.failures
            ]
            raise ValidationError("\n".join([self.summary, *failures]), self)

    def __str__(self) -> str:
        return table(self.rows)


def table(rows: Iterable[Check]) -> str:
    """Print rows as a table of plain text."""
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


# ------------------------------------------------------------------------------- any model


class Beginning:
    """A validation in progress: states, facts of the robot, and the rows made so far.

    `robot` is the independent numeric model; None if it cannot read some types of joints, `unread`,
    in which case the states depend on the subjects.
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
        """The subjects that were evaluated."""
        return tuple(s.subject for s in self._evaluations.values())

    @cached_property
    def oracle(self) -> Evaluation | None:
        """The numeric model on these states."""
        if self.robot is None:
            return None
        return Evaluation(_independent(self.robot), self.states, self.facts)

    def evaluations(self, subjects: Sequence[Subject]) -> list[Evaluation]:
        """Evaluations of the subjects on these states, each made once."""
        for x in subjects:
            if id(x) not in self._evaluations:
                self._evaluations[id(x)] = Evaluation(x, self.states, self.facts)
        return [self._evaluations[id(x)] for x in subjects]

    def rows(
        self, evaluations: Sequence[Evaluation], part: Part, *, independent: bool
    ) -> dict[int, tuple[Check, ...]]:
        """Rows by the `id` of the evaluation, against the numeric model or against each other; rows
        of earlier calls are reused."""
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
    """Check the subjects of a later `validate` that take complex numbers, in the same order.

    None if the numeric model cannot read the robot: the states then depend on all subjects.
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
    comparisons are repeated with other values of these.  `beginning` is the result of `begin` for
    the same arguments and some of the subjects.  `progress` is called for every comparison.
    """
    begun = beginning or Beginning(description, subjects, samples, runtime)
    start = time.perf_counter() - begun.seconds
    evaluations, robot = begun.evaluations(subjects), begun.robot
    part = parts(progress, (1 + (robot is not None)) * len(evaluations) + bool(runtime))
    with without_warnings():
        if robot is None or begun.oracle is None:
            types = f"joint type{'s' * (len(begun.unread) > 1)} " * (not description.is_natural)
            types += ", ".join(begun.unread)
            name = f"{UNREAD} {types}: not compared with it"
            rows = [Check(name, INDEPENDENT, 0.0, 0.0, 0)]
        else:
            model = _independent(robot.at_time(begun.states.t))
            evaluation = Evaluation(model, begun.states, begun.facts)
            rows = [*comparison.rows((evaluation,), lagrange_and_power, robot.n)]
            rows += left_out(evaluations, begun.oracle)
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
"""A function that passes on the rows of one part of a validation, and reports each."""


def parts(progress: Progress, total: int) -> Part:
    """Return a function that passes on the rows of the next of `total` parts, and reports each."""
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
        mentioned=description.n_constraints * description.tells_multipliers,
        timed=description.is_timed,
    )  # fmt: skip
    states, more = drawn(samples or limits.samples(n)), partial(drawn, seed=2010)
    holders = subjects if robot is None else [_independent(robot)]
    if description.relations or description.forces:
        space = configuration(description) or Configuration(n)
        start = space.normalize(np.array(description.initial_state[0]))
        if robot is not None:
            states = _with_values(description, robot, states, more, start)
        elif holders:
            has_values = partial(model_has_values, holders[0].functions)
            states = states_with_values(states, more, has_values, space, start)
    if not description.outputs:
        return states
    return states_in_domain(states, more, lambda drawn: _outputs(drawn, holders))


def _with_values(
    description: RobotDescription, robot: NumericRobot, states: States,
    more: Callable[[int], States], start: Array,
) -> States:  # fmt: skip
    """States at which relations and forces of the model have values; `ModelError` if there are
    none."""
    has_values, space = partial(model_has_values, ParametrisedRobot(robot)), robot.space
    valued = states_with_values(states, more, has_values, space, start)
    with without_warnings():
        if has_values(valued).all():
            return valued
        rows = np.asarray(robot.constraints(valued.q, t=valued.t))
    lost = np.logical_not(np.isfinite(rows).any(axis=0))
    names = set(compress(description.constraint_names, lost.tolist()))
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
    independent = description.independent_joints
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
        tuple(x.type for x in description.springs) + tuple(x.type for x in description.forces),
        mass_terms(description, terms),
        velocity_rows(description),
        description.is_natural,
    )


def _outputs(states: States, subjects: Sequence[Subject]) -> Array:
    """The outputs by the first subject that has them, (S, n_outputs); without any, (S, 0)."""
    holder = next((s.functions for s in subjects if hasattr(s.functions, "outputs")), None)
    if holder is None:
        return np.zeros((len(states.q), 0))
    return call(holder, "outputs", vars(states))[0]


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
    """Comparisons at other values of the parameters: with the numeric model and each other."""
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
            name = "some values do not exist there, and nothing is compared"
            yield Check(f"{CHANGED[2:]}: {name}", INDEPENDENT, 0.0, 0.0, 0)
            return
    evaluations = [Evaluation(subject, states, facts) for subject in subjects]
    oracle = None if robot is None else Evaluation(_independent(robot), states, facts)
    for s in evaluations:
        yield from _independent_rows(oracle, s, CHANGED)
    yield from between(evaluations)
