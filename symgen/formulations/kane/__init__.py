"""Forward dynamics by Kane's method, fully recursive (Anderson, Hsu 2002).

`recursion` holds the notation; `motion` and `recursion` the steps, `contributions` what a joint
brings into them.  Derivatives are those of every line: `symgen.formulations.direct`.
"""

from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, needs_a_coordinate_for_every_joint
from symgen.formulations.kane import contributions, diagonal, dynamics, motion, recursion

KANE = Formulation(
    name="kane",
    title="Kane's method, fully recursive (articulated bodies)",
    source="Anderson, Hsu 2002",
    notes={**contributions.NOTES, **motion.NOTES, **recursion.NOTES, **diagonal.NOTES},
    functions=with_derivatives(
        {
            "forward_dynamics": dynamics.forward_dynamics,
            "hybrid_dynamics": dynamics.hybrid_dynamics,
        }
    ),
    why_not=needs_a_coordinate_for_every_joint,
    weight=1.5,
    torques=dynamics.torques,
)
