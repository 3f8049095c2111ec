"""Composite rigid bodies: closed-form derivatives of the torques and what is built from them.

`frames` says where the joints are, `motion` how links move, `bodies` what they weigh and `loads`
what acts on them; `derivatives` puts these together.
"""

from symgen.formulations.composite import bodies, derivatives, frames, loads, mass_matrix, motion
from symgen.formulations.interface import Formulation

COMPOSITE = Formulation(
    name="composite",
    title="Composite rigid bodies, derivatives in closed form",
    source="Singh, Russell, Wensing 2022",
    notes={
        **frames.NOTES,
        **motion.NOTES,
        **bodies.NOTES,
        **loads.NOTES,
        **derivatives.NOTES,
        **mass_matrix.NOTES,
    },
    functions={
        "mass_matrix": mass_matrix.mass_matrix,
        "inverse_dynamics_derivatives": derivatives.inverse_dynamics_derivatives,
    },
)
