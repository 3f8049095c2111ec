"""Warnings of a model file: those of its reader, and those that need poses of the robot."""

from __future__ import annotations

from symgen.description.model import RobotDescription
from symgen.errors import Fault
from symgen.validation.conditioning import singularity_warnings
from symgen.validation.mobility import Mobility, mobility, open_loops


def model_warnings(
    description: RobotDescription, mechanism: Mobility | None = None
) -> tuple[str, ...]:
    """Return the notices about a model that every command gives.

    Args:
        description: the model.
        mechanism: its mobility, where that is computed already.

    Returns:
        Lines that begin with "warning: ": about entries of the file, loops that do not close
        (also from the initial values of drives), mass matrices that are singular everywhere, and
        outputs that are not computed.
    """
    faults = (
        *description.warnings,
        *_left_out(description),
        *singularity_warnings(description),
        *open_loops(description, mechanism or mobility(description)),
    )
    return tuple(f"warning: {fault}" for fault in faults)


def _left_out(description: RobotDescription) -> list[Fault]:
    """Return a fault about outputs beside joints with Euler parameters."""
    redundant = [joint.name for joint in description.joints if joint.is_redundant]
    if not redundant or not description.outputs:
        return []
    message = (
        "outputs are not computed yet beside 'coordinates: euler_parameters', such as those of "
        f"{redundant[0]!r}; write 'coordinates: quaternion'"
    )
    return [description.outputs[0].source.fault(message)]
