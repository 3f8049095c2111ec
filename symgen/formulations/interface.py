"""Formulations: the functions that they derive, and the trees that they support."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from symgen.formulations import sizes
from symgen.formulations.rolled import RolledBuilder
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.functions import FUNCTION_NAMES
from symgen.program.products import PRODUCTS

REASONS: Mapping[str, str] = {
    "size": "its closed form would have about {operations:,} operations (more than {limit:,}); "
    "use a recursive formulation",
    "mimic": "it takes every joint as free, and some follow others (mimic)",
    "euler_parameters": "it moves a link by one coordinate after the other, and Euler parameters "
    "turn it together; semi_recursive takes them",
    "relative": "it takes natural coordinates, and this module has those of joints: build another "
    "one with --formulations natural_coordinates",
    "natural": "it takes coordinates of joints, and this module has natural coordinates",
}
"""Everything that may stand between a formulation and a tree; figures are filled in."""


def reason(kind: str, **figures: int) -> str:
    """One of `REASONS`, in words: what `Formulation.why_not` answers."""
    return REASONS[kind].format(**figures)


Derivation = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any]], Results[Any]]
"""Writes the steps of one function into the builder; its results, and the hidden ones."""


def functions_in(*modules: ModuleType) -> dict[str, Any]:
    """Return the derivations in `modules`: those named as functions of generated modules."""
    return {name: vars(x)[name] for x in modules for name in FUNCTION_NAMES if name in vars(x)}


def notes_in(*modules: ModuleType) -> dict[str, str]:
    """Return the notes of `modules` by label."""
    return {label: note for x in modules for label, note in x.NOTES.items()}


RolledDerivation = Callable[[KinematicTree[Any], RolledBuilder[Any]], None]
"""Writes the phases of one function."""


def applies_to_every_tree(tree: KinematicTree[Any]) -> str | None:
    """Return the answer of a formulation that takes all coordinates of joints."""
    if tree.is_natural:
        return reason("natural")
    return None


def moves_by_one_coordinate(tree: KinematicTree[Any]) -> str | None:
    """Return the answer of a formulation whose recursion goes from coordinate to coordinate."""
    if tree.euler_parameters:
        return reason("euler_parameters")
    if tree.is_natural:
        return reason("natural")
    return None


def needs_a_coordinate_for_every_joint(tree: KinematicTree[Any]) -> str | None:
    """Return the answer of a formulation whose recursion solves joint by joint."""
    if tree.is_coupled:
        return reason("mimic")
    if tree.euler_parameters:
        return reason("euler_parameters")
    if tree.is_natural:
        return reason("natural")
    return None


def small(tree: KinematicTree[Any], function: str) -> int:
    """Return 0: results say how large a function is."""
    return 0


PRODUCT_COST = 4
"""A product of derivatives and a vector takes at most about so many times the operations of what is
differentiated; one that is both backwards and along a direction, so many times that of each."""


@dataclass(frozen=True)
class Formulation:
    """A way to derive the functions of a robot.

    `functions` maps the name of a function (`symgen.program.functions`) to what derives it.
    `notes` maps the labels that statements carry to equations and their source.
    `why_not` says why the formulation cannot treat a tree, with one of `REASONS`, or returns None.
    """

    name: str
    title: str
    source: str
    notes: Mapping[str, str]
    functions: Mapping[str, Derivation]
    why_not: Callable[[KinematicTree[Any]], str | None] = moves_by_one_coordinate
    weight: float = 1.0
    """How many times the operations of `sizes.operations` a function takes, roughly."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """`weight` of functions that take more or fewer operations, by name."""
    size: Callable[[KinematicTree[Any], str], int] = small
    """An estimate of its own, of a formulation that grows faster than its results."""
    by_default: bool = True
    """Whether a build that names no formulations builds it or has it evaluated, for validation.
    `symgen check` has all of them evaluated."""
    rolled: Mapping[str, RolledDerivation] = field(default_factory=dict)
    """The functions that can also be written in loops, and what does it."""
    torques: Derivation | None = None
    """Derivation of ``inverse_dynamics`` where it is none of `functions`, for products of
    derivatives of accelerations."""

    @property
    def inverse_dynamics(self) -> Derivation | None:
        """Derivation of the torques that accelerations take, in `functions` or not."""
        return self.functions.get("inverse_dynamics", self.torques)

    def operations(self, tree: KinematicTree[Any], function: str) -> int:
        """Estimate the operations of a function; of products as well: see `PRODUCT_COST`."""
        product = PRODUCTS.get(function)
        if product is not None:
            times = PRODUCT_COST**2 if product.backwards and product.along else PRODUCT_COST
            return times * self.operations(tree, product.of)
        weight = self.weights.get(function, self.weight)
        return max(self.size(tree, function), round(weight * sizes.operations(tree, function)))
