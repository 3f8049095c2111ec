"""Functions of generated modules: the type of an entry of `symgen.program.functions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from symgen.program.arguments import LOADS, MOTION_MULTIPLIERS, Argument, T


@dataclass(frozen=True)
class Function:
    """One function: `arguments` are positional, `options` keyword-only and optional.

    `hidden` are outputs that the caller does not see.  `needs` are the sizes that must not be 0;
    `NEEDS` names the remedies.  Square results of a `packable` function are 0 for any two joints
    that are not on one path, and can be returned without those entries.  `record` is the class of
    the named tuple that it returns; "" for one result or a plain tuple.  Functions `for_reading`
    have no versions for several samples at a time.
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
        """Say why a robot of these sizes cannot have the function; "" where it can."""
        if self.solves and sizes["n_constraints"]:
            served = self.name.replace("hybrid", "forward")
            return (
                "it ignores constraints, and the model has some; use "
                f"constrained_{served}, which solves numerically with mass_matrix, bias_forces, "
                "constraint_jacobian and constraint_bias"
                if served in CONSTRAINED
                else "not available for models with loops or relations, nor with Euler parameters"
            )
        return next((NEEDS[size] for size in self.needs if not sizes[size]), "")

    def of(self, sizes: Mapping[str, int]) -> Function:
        """Return the function for a robot of these sizes, with the options that its model needs.

        Functions with loads take the time where forces of the model depend on it; functions of
        outputs take multipliers of constraints where outputs depend on them.
        """
        needed = []
        if sizes[TIMED] and LOADS in self.options:
            needed.append(T)
        if sizes["n_motion_multipliers"] and self.is_of_outputs:
            needed.append(MOTION_MULTIPLIERS)
        more = [array for array in needed if array not in (*self.arguments, *self.options)]
        return replace(self, options=(*self.options, *more)) if more else self

    @property
    def is_of_outputs(self) -> bool:
        """Whether the results are outputs of the model, or derivatives of them."""
        return "n_outputs" in self.needs

    @property
    def is_hybrid(self) -> bool:
        """Whether joints with prescribed motions answer with torques, the others with motions."""
        return "n_prescribed" in self.needs

    @property
    def solves(self) -> bool:
        """Whether it divides by pivots of the mass matrix, which may be singular."""
        return bool(self.hidden)


TIMED = "n_times"
"""The size that is 1 where forces of the model depend on time."""

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
