"""The global formulation in natural coordinates: constant mass matrices, quadratic constraints.

Coordinates are points and unit vectors in base axes, of which adjacent links share some
(`symgen.joints.natural`): 8 with 7 rows for the five-bar linkage of Lopez Varela, Dopico and Luaces
(2023), 128 with 114 rows for the vehicle of 18 bodies in ``examples/mechanisms/hmmwv.yaml``.  There
are no centrifugal and Coriolis forces, and no sines but those of joint coordinates with springs or
drives.  Lengths, right angles and motions that joints prevent are rows of constraints, like those
of loops and relations, for ALI3-P.

`symgen.deriving.natural` converts a model; `symgen.formulations.natural_frames` has the frames.
"""

from typing import Any

from symgen.formulations import constraints as loop_rows
from symgen.formulations import model_outputs, natural_frames, torques
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, functions_in, notes_in, reason
from symgen.formulations.natural_coordinates import functions
from symgen.kinematics.tree import KinematicTree


def why_not(tree: KinematicTree[Any]) -> str | None:
    """Return the answer for a tree with coordinates of joints."""
    if tree.is_natural:
        return None
    return reason("relative")


NATURAL_COORDINATES = Formulation(
    name="natural_coordinates",
    title="Natural coordinates",
    source="Garcia de Jalon, Bayo 1994; Lopez Varela, Dopico, Luaces 2023",
    notes=notes_in(natural_frames, functions, loop_rows, model_outputs),
    functions=with_derivatives(
        {
            **{
                name: write
                for name, write in torques.functions(functions.rigid).items()
                if name in ("inverse_dynamics", "mass_matrix", "bias_forces")
            },
            **functions_in(functions),
            **loop_rows.functions_of(functions.supply),
        }
    ),
    why_not=why_not,
    by_default=False,
    weight=0.1,
)
