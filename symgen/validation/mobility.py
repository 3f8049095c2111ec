"""Closure of the loops of a mechanism, and its degrees of freedom.

Gruebler's formula, n - m, takes all rows for independent, except those that are 0 at all
coordinates, as three of a hinge in a plane; the rank of the Jacobian of the assembled mechanism is
their actual number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from symgen.description.model import RobotDescription
from symgen.errors import Fault
from symgen.joints import closing_type
from symgen.kinematics.loops import loop_axes, row_units, velocity_rows
from symgen.runtime.closure import RANK, half_turned, holdable, independent, row_sizes
from symgen.runtime.mechanism import CHANGED, Mechanism
from symgen.validation.oracle_model import Array, unread_types
from symgen.validation.oracles import NumericRobot

TILTED = 0.1
"""Sine of the angle between axes of a loop that is remarked."""


@dataclass(frozen=True)
class Mobility:
    """Mobility of a mechanism, assembled from its initial positions.

    `open_by` is a message if its loops do not close or do not stay closed, else "".  `freedoms` is
    n minus the rank, `placements` n minus that of the rows of positions, `gruebler` n - m
    without the `idle` rows, which are 0 at all coordinates,
    `redundant` the number of rows of each loop that others of it, or loops before it, imply;
    `smallest` is the smallest singular value that is not 0, relative to the largest; `q` and `qd`
    are the assembled configuration and its velocities, `changed` are warnings about driven
    coordinates whose values under `initial` leave the loops open.
    """

    rows: int
    gruebler: int
    freedoms: int
    redundant: Mapping[str, int]
    smallest: float
    turned: str = ""
    open_by: str = ""
    q: tuple[float, ...] = ()
    qd: tuple[float, ...] = ()
    changed: tuple[Fault, ...] = ()
    placements: int = 0
    idle: int = 0
    drives: int = 0  # where the file does not say which joints have one

    def __str__(self) -> str:
        rows = "1 constraint" if self.rows == 1 else f"{self.rows} constraints"
        if self.open_by:
            return f"{rows}; {self.open_by}"
        spare = {name: count for name, count in self.redundant.items() if count}
        names = ", ".join(f"{k} of {x}" if len(spare) > 1 else f"of {x}" for x, k in spare.items())
        redundant = f", {sum(spare.values())} of them ({names}) redundant" if spare else ""
        freedoms = "1 degree" if self.freedoms == 1 else f"{self.freedoms} degrees"
        more = f", {self.placements} of positions" if self.placements > self.freedoms else ""
        idle = f", without {self.idle} rows that are always 0" if self.idle else ""
        formula = f"Gruebler's formula gives {self.gruebler}{idle}"
        passive = f"; {self.drives} drives: 'actuated: false' for passive joints"
        passive *= self.drives > self.freedoms
        return f"{rows}{redundant}; {freedoms} of freedom{more} ({formula}){passive}"


def mobility(description: RobotDescription) -> Mobility | None:
    """The mobility of a model; None without loops and relations, or with unreadable joints."""
    if not description.n_constraints or unread_types(description):
        return None
    robot = NumericRobot(description)
    n, m = len(description.coordinate_names), description.n_constraints
    start, rates = map(np.array, description.initial_state)
    module = _module_of(robot, description, start)
    try:
        q = _quietly(Mechanism(module).assemble, start)
    except ValueError as error:
        return Mobility(m, n - m, 0, {}, 0.0, open_by=str(error).removeprefix("assemble: "))
    J = robot.constraint_jacobian(q)
    sizes = row_sizes(row_units(description), J)
    J = J / sizes[:, np.newaxis]
    turned = _half_turned(module, robot, start)
    if message := _contradiction(robot, description, q, J, sizes):
        return Mobility(m, n - m, 0, {}, 0.0, open_by=message)
    s = np.linalg.svd(J, compute_uv=False)
    kept = s > RANK * s.max(initial=0.0)
    smallest = float(s[kept].min(initial=np.inf) / s.max(initial=1.0)) if kept.any() else 0.0
    freedoms = n - int(kept.sum())
    of_positions = independent(J[np.logical_not(velocity_rows(description))])[2]
    try:
        qd = _quietly(Mechanism(module).closed_velocities, q, rates)
    except np.linalg.LinAlgError:  # bodies without mass
        qd = rates
    moved = {"q": robot.space.difference(module.initial_q, q), "qd": qd - rates}
    idle, tilted = _idle_rows(robot, q), _tilted(robot, description, module.initial_q)
    return Mobility(
        m, n - m + idle, freedoms, _redundant(description, J), smallest, turned,
        q=tuple(q.tolist()), qd=tuple(qd.tolist()), idle=idle,
        changed=tuple(_changed(description, moved, tilted)),
        placements=n - int(of_positions.sum()),
        drives=n if description.loops and not description.names_drives else 0,
    )  # fmt: skip


def determining(description: RobotDescription, q: Array) -> Array:
    """Return which driven coordinates determine all others at a closed q (nq,), (n,) booleans."""
    J = NumericRobot(description).constraint_jacobian(q)
    sizes = row_sizes(row_units(description), J)
    actuated = [
        joint.actuated for joint in description.independent_joints for _ in joint.coordinate_names
    ]
    held: Array = holdable(J / sizes[:, np.newaxis], np.flatnonzero(actuated).tolist())
    return held


def assembled(description: RobotDescription, q: Array, hold: Sequence[str]) -> Array | None:
    """Return the coordinates nearest to q (nq,) that close the loops with those in `hold`; None
    where they stay open."""
    module = _module_of(NumericRobot(description), description, q)
    try:
        closed: Array = Mechanism(module).assemble(q, hold=hold)
    except ValueError:
        return None
    return closed


def _idle_rows(robot: NumericRobot, q: Array) -> int:
    """Return the number of rows of the Jacobian that are 0 at q (nq,) and two random places."""
    random = np.random.default_rng(0)
    places = [q, *(robot.space.integrate(q, random.normal(size=robot.n)) for _ in range(2))]
    rows = [np.abs(robot.constraint_jacobian(at)).max(axis=1, initial=0.0) for at in places]
    return int(np.sum(np.max(rows, axis=0) <= RANK))


def _quietly(function: Callable[..., Array], *arguments: Array) -> Array:
    """Call a function of a mechanism, without the warnings that `_changed` words for a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def _tilted(robot: NumericRobot, description: RobotDescription, q: Array) -> str:
    """Return the name of a loop whose frames have axes far from parallel at q (nq,), or ""."""
    units = np.array(row_units(description))
    tilts = np.where(units == -1, np.abs(robot.constraints(q)), 0.0)
    names = [name for name, rows in _parts(description) for _ in range(rows)]
    return names[int(tilts.argmax())] if tilts.max(initial=0.0) > TILTED else ""


def _changed(
    description: RobotDescription, moved: Mapping[str, Array], tilted: str
) -> Iterator[Fault]:
    """Yield one warning, where initial values of driven coordinates had to change."""
    names = description.coordinate_names
    changes = [(x, moved[x.key][names.index(x.name)]) for x in description.initial_drives]
    changes = [(drive, change) for drive, change in changes if abs(change) > CHANGED]
    if changes:
        which = ", ".join(f"{x.key} of {x.name} by {change:.3g}" for x, change in changes)
        yield changes[0][0].source.fault(
            "the loops do not close with the initial values; assemble(), closed_velocities(), "
            f"simulations and reports change {which}"
            + f"; axes of {tilted} are not parallel there ('axis' of its frames, z by default)"
            * bool(tilted)
        )


def _half_turned(module: SimpleNamespace, robot: NumericRobot, start: Array) -> str:
    """A message about a loop that the initial positions close half a turn off; "" for none."""
    start = robot.space.normalize(start)
    rows = np.abs(robot.constraints(start)).max(initial=0.0)
    name = half_turned(module, start, {}) if rows < RANK else ""
    if not name:
        return ""
    return (
        f"{name}: its frames are half a turn off at the initial positions, though its rows are 0 "
        "there; assemble() and simulations go on to where they agree"
    )


def open_loops(description: RobotDescription, mechanism: Mobility | None) -> tuple[Fault, ...]:
    """Warnings if the loops of a model stay open, at the first loop that it names, or of all, and
    if initial values of drives had to change."""
    message = "" if mechanism is None else mechanism.open_by or mechanism.turned
    changed = () if mechanism is None else mechanism.changed
    if not message:
        return changed
    sources = {part.name: part.source for part in description.loops}
    sources |= {part.name: part.source for part in description.relations}
    words = message.replace(":", "").split()
    named = [source for name, source in sources.items() if name in words]
    first = next(iter([*named, *sources.values(), *(x.source for x in description.joints)]))
    return (first.fault(message), *changed)


def _contradiction(
    robot: NumericRobot, description: RobotDescription, q: Array, J: Array, sizes: Array
) -> str:
    """A message about a relation that requires impossible velocities; "" if there is none."""
    rates = robot.constraint_rates(q, np.zeros(robot.n)) / sizes
    U, s, _ = np.linalg.svd(J, full_matrices=False)
    U = U[:, s > RANK * s.max(initial=0.0)]
    left = np.abs(rates - U @ (U.T @ rates))
    if left.max(initial=0.0) <= RANK * max(1.0, np.abs(rates).max(initial=0.0)):
        return ""
    name = description.constraint_names[int(left.argmax())]
    return (
        f"the loops close, but no velocities keep them closed as time goes on: {name} contradicts "
        "the other constraints; remove it, or make them agree"
    )


def _module_of(
    robot: NumericRobot, description: RobotDescription, initial_q: Array
) -> SimpleNamespace:
    names = [f"row {k}" for k in range(1, description.n_constraints + 1)]
    start = 0
    for part, rows in _parts(description):
        names[start : start + rows] = [part] * rows
        start += rows
    space = robot.space
    return SimpleNamespace(
        constraints=robot.constraints,
        constraint_jacobian=robot.constraint_jacobian,
        constraint_rates=robot.constraint_rates,
        mass_matrix=lambda q, parameters=None: robot.mass_matrix(q),
        forward_kinematics=robot.forward_kinematics,
        _loop_axes=loop_axes(description),
        _row_units=row_units(description),
        _velocity_rows=velocity_rows(description),
        initial_q=space.normalize(initial_q),
        _initial_drives=[(drive.name, drive.key) for drive in description.initial_drives],
        coordinate_names=description.coordinate_names,
        file_names=description.file_names,
        constraint_names=names,
        integrate=space.integrate,
        difference=space.difference,
        normalize=space.normalize,
        n=robot.n,
    )


def _parts(description: RobotDescription) -> list[tuple[str, int]]:
    """Loops, relations and norms of Euler parameters with the numbers of their rows."""
    loops = [(loop.name, len(closing_type(loop.type).forbids)) for loop in description.loops]
    norms = [(name, 1) for joint in description.joints for name in joint.rows]
    return [*loops, *((relation.name, 1) for relation in description.relations), *norms]


def _redundant(description: RobotDescription, J: Array) -> dict[str, int]:
    """The number of rows of each loop or relation that depend on other rows of it or before it."""
    redundant: dict[str, int] = {}
    stop = rank = 0
    for name, rows in _parts(description):
        stop += rows
        s = np.linalg.svd(J[:stop], compute_uv=False)
        new = int(np.sum(s > RANK * s.max(initial=0.0)))
        redundant[name] = rows - (new - rank)
        rank = new
    return redundant
