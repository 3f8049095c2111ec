"""Forward dynamics by Kane's method, fully recursive, and its derivatives (Anderson, Hsu 2002).

`recursion` holds the notation; `motion` and `recursion` the steps, `motion_derivatives` and
`derivatives` the same steps differentiated; `contributions` and `variations` what a joint brings
into either.
"""

from symgen.formulations.interface import Formulation, needs_a_coordinate_for_every_joint
from symgen.formulations.kane import (
    contributions,
    costs,
    derivatives,
    diagonal,
    dynamics,
    motion,
    motion_derivatives,
    recursion,
    variations,
)

KANE = Formulation(
    name="kane",
    title="Kane's method, fully recursive (articulated bodies)",
    source="Anderson, Hsu 2002",
    notes={
        **contributions.NOTES,
        **motion.NOTES,
        **recursion.NOTES,
        **diagonal.NOTES,
        **variations.NOTES,
        **motion_derivatives.NOTES,
        **derivatives.NOTES,
    },
    functions={
        "forward_dynamics": dynamics.forward_dynamics,
        "forward_dynamics_derivatives": dynamics.forward_dynamics_derivatives,
        "forward_dynamics_parameter_derivatives": dynamics.forward_dynamics_parameter_derivatives,
        "forward_dynamics_sensitivities": dynamics.forward_dynamics_sensitivities,
        "hybrid_dynamics": dynamics.hybrid_dynamics,
        "hybrid_dynamics_derivatives": dynamics.hybrid_dynamics_derivatives,
        "hybrid_dynamics_parameter_derivatives": dynamics.hybrid_dynamics_parameter_derivatives,
    },
    why_not=needs_a_coordinate_for_every_joint,
    estimate=costs.estimate,
    torques=dynamics.torques,
)
