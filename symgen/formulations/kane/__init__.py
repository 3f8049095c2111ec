"""Forward dynamics by Kane's method, fully recursive (Anderson, Hsu 2002).

`recursion` holds the notation and the steps, `contributions` the motion of a joint and the inertia
and force that it brings into them, `dynamics` the functions.
"""

from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, needs_a_coordinate_for_every_joint
from symgen.formulations.kane import contributions, dynamics, recursion

KANE = Formulation(
    name="kane",
    title="Kane's method, fully recursive (articulated bodies)",
    source="Anderson, Hsu 2002",
    notes={**contributions.NOTES, **recursion.NOTES, **dynamics.NOTES},
    functions=with_derivatives(
        {"forward_dynamics": dynamics.forward_dynamics, "hybrid_dynamics": dynamics.hybrid_dynamics}
    ),
    why_not=needs_a_coordinate_for_every_joint,
    weight=1.5,
    torques=dynamics.torques,
)
