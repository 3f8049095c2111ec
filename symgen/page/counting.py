"""Programs that several parts of a page use, and their operation counts.

Every function of the page, by every formulation that applies, in a straight line; functions with a
very large estimate are not derived.  The operations of a function decide whether it is computed in
the page, shown step by step, or compiled and timed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.comparing.growth import main_functions
from symgen.deriving.derivation import Derived, FunctionReport, derive_all
from symgen.deriving.selection import Selection
from symgen.description.model import RobotDescription
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.kinematics.turns import MOST_ODD_TURNS, odd_turns
from symgen.options import STRAIGHT
from symgen.support.journal import Journal

TORQUES = "inverse_dynamics"
POSES = "forward_kinematics"
PARTS = "torque_parts"
ENERGIES = ("kinetic_energy", "potential_energy")
WRENCHES = "joint_wrenches"
LIVE_ONLY: tuple[str, ...] = (POSES, PARTS, WRENCHES, *ENERGIES)
"""Functions that the page computes, by the first formulation that has them, without comparison."""

CLOSING = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_bias", "mass_matrix",
    "bias_forces", "loop_wrenches",
)  # fmt: skip
"""Functions for motions of a mechanism with closed loops in the page, at any size."""
LARGEST_ESTIMATE = 80_000
"""Estimated operations above which a function is not derived."""
UNCOMPARED = (*LIVE_ONLY, *CLOSING)

Name = tuple[str, str]
"""Formulation and function."""


@dataclass(frozen=True)
class Counted:
    """Derived programs; `sizes` are operations, estimated where a function was not derived.

    `legible`: constants are few enough to appear in equations.  `unloaded` are reports on the
    torques of the robot without its loads, as textbooks count them.
    """

    tree: KinematicTree[Scalar]
    derived: Derived
    sizes: Mapping[Name, int]
    legible: bool
    unloaded: tuple[FunctionReport, ...]

    @property
    def formulations(self) -> tuple[str, ...]:
        """Formulations that derive functions for comparison."""
        compared = (name for name, function in self.sizes if function not in UNCOMPARED)
        return tuple(dict.fromkeys(compared))

    @property
    def reports(self) -> tuple[FunctionReport, ...]:
        """The operations of the functions that the page compares."""
        compared = (x for x in self.derived.reports if x.function not in UNCOMPARED)
        return (*compared, *self.unloaded)

    def only(self, names: Collection[Name]) -> Derived:
        """Return the programs of these functions alone."""
        kept = {
            name: tuple(function for function in functions if (name, function) in names)
            for name, functions in self.derived.selection.built.items()
        }
        kept = {name: functions for name, functions in kept.items() if functions}
        programs = {name: {f: self.derived.built[name][f] for f in kept[name]} for name in kept}
        selection = replace(self.derived.selection, built=kept)
        return replace(self.derived, built=programs, selection=selection)


def count(description: RobotDescription, journal: Journal) -> Counted:
    """Derive the functions of the page, and count their operations."""
    tree = build_tree(description, Graph())
    closed = bool(description.n_constraints)
    closing = (x for x in CLOSING if closed and (description.loops or x != "loop_wrenches"))
    single = (*LIVE_ONLY, *closing)  # functions by one formulation
    estimates = {
        (item.name, function): item.operations(tree, function)
        for item in FORMULATIONS
        if item.why_not(tree) is None
        for function in dict.fromkeys((*main_functions(closed), *single))
        if function in provided_functions(item, tree)
    }
    first = {function: name for name, function in reversed(estimates)}
    wanted = [
        name
        for name, size in estimates.items()
        if (first[name[1]] == name[0] if name[1] in single else size <= LARGEST_ESTIMATE)
    ]
    built: dict[str, tuple[str, ...]] = {}
    for formulation, function in wanted:
        built[formulation] = (*built.get(formulation, ()), function)
    selection = Selection(n=tree.sizes["n"], built=built, evaluated={}, skipped={})
    derived = derive_all(description, selection, journal.progress, STRAIGHT)
    exact = {(x.formulation, x.function): x.after.total for x in derived.reports}
    estimates = {name: size for name, size in estimates.items() if name[1] not in single}
    legible = odd_turns(description) <= MOST_ODD_TURNS
    unloaded = _without_loads(description, selection) if description.loads else ()
    return Counted(tree, derived, {**estimates, **exact}, legible, unloaded)


def _without_loads(
    description: RobotDescription, selection: Selection
) -> tuple[FunctionReport, ...]:
    """Return operations of the torques without loads, by every formulation."""
    built = {name: (TORQUES,) for name, names in selection.built.items() if TORQUES in names}
    bare = replace(description, loads=(), outputs=())
    reports = derive_all(bare, replace(selection, built=built), form=STRAIGHT).reports
    return tuple(replace(x, function=f"{TORQUES}, without loads") for x in reports)
