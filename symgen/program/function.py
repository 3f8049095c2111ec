"""Functions of generated modules: the type of an entry of `symgen.program.functions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from symgen.program.arguments import LOADS, MOTION_MULTIPLIERS, Argument, T


@dataclass(frozen=True)
class Function:
    """One function: `arguments` are positional, `options` keyword-only and may be left out.

    `hidden` are outputs that the caller does not see.  `needs` are the sizes that must not be 0 for
    the function to have any sense; `NEEDS` says what to do about them.  Where it is `packable` its
    square results are 0 for any two joints that are not on one path, and can be had without those
    entries.  `record` is the class of the named tuple that it returns, of those that every package
    has; "" for one result or a plain tuple.  Functions `for_reading` explain rather than control:
    they have no versions for several samples at a time.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...]
    options: tuple[Argument, ...] = ()
    hidden: tuple[Argument, ...] = ()
    needs: tuple[str, ...] = ()
    packable: bool = False
    record: str = ""
    for_reading: bool = False
    on_request: bool = False

    def lacks(self, sizes: Mapping[str, int]) -> str:
        """Why it means nothing for a robot of these sizes; "" where it does."""
        if self.solves and sizes["n_constraints"]:
            served = self.name.replace("hybrid", "forward")
            return (
                f"{self.name} is that of the tree cut open, and the model has constraints; "
                f"constrained_{served} serves it"
                if served in CONSTRAINED
                else f"{self.name} is not available for models with loops or relations, nor "
                "with Euler parameters"
            )
        return next((NEEDS[size] for size in self.needs if not sizes[size]), "")

    def of(self, sizes: Mapping[str, int]) -> Function:
        """Return the function for a robot of these sizes, with options that its model asks for.

        Where forces of the model mention the time, all that takes loads takes it, too; where
        outputs mention multipliers of constraints, what returns outputs takes those.
        """
        asked = []
        if sizes[TIMED] and LOADS in self.options:
            asked.append(T)
        if sizes["n_motion_multipliers"] and self.is_of_outputs:
            asked.append(MOTION_MULTIPLIERS)
        taken = (*self.arguments, *self.options)
        more = tuple(array for array in asked if array not in taken)
        return replace(self, options=(*self.options, *more)) if more else self

    @property
    def is_of_outputs(self) -> bool:
        """Whether it returns outputs of the model, or derivatives of these."""
        return "n_outputs" in self.needs

    @property
    def solves(self) -> bool:
        """Whether it divides by pivots of the mass matrix, which may be singular."""
        return bool(self.hidden)


TIMED = "n_times"
"""The size that is 1 where forces of the model mention the time."""

NEEDS: Mapping[str, str] = {
    "n_parameters": "the module has no runtime parameters; build it with: symgen build MODEL "
    "--runtime-parameters all",
    "n_outputs": "the model has no outputs; add 'outputs: {NAME: EXPRESSION}' to it",
    "n_motion_multipliers": "no output of the model mentions multipliers of constraints",
    "n_constraints": "the model has no loops and no relations; 'loops:' and 'relations:' of the "
    "model file make some",
    "n_loops": "the model has no loops; 'loops:' of the model file makes some",
    "n_prescribed": "no joint of the model is prescribed ('prescribed: true'); forward_dynamics "
    "serves robots whose joints are all free",
}
"""Reasons, by the size that is 0, why a function was not built, and the remedy."""

CONSTRAINED = ("forward_dynamics", "forward_dynamics_derivatives")
"""Functions that have a counterpart for models with loops or relations, `constrained_...`."""
