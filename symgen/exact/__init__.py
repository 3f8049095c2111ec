"""The exact check: equality of formulations without tolerance.

Programs of the general robot (`symgen.exact.general`) are evaluated at random points of prime
fields, derivatives by dual numbers.  Results that agree there are identical, up to a probability
that the result states (`symgen.exact.degree`); with roots in a model, for one choice of their signs
(`symgen.algebra.prime_field`).

equalities   a function by one formulation = the same function by another
relations    a derivative by one formulation = the slopes of its function, by the same formulation
             and by every other (`symgen.exact.relations`); other laws by way of the model, such as
             regressor @ inertial parameters = inverse dynamics, or M qdd + bias forces = tau for
             the accelerations of forward dynamics (`symgen.exact.compositions`)

For a difference, the result names the entry, and the faulty step if it can be located.
"""

from symgen.exact.general import general_robot, runtime_parameters
from symgen.exact.location import Location, first_difference, first_wrong_derivative
from symgen.exact.proof import POINTS, compare, general_programs, prove
from symgen.exact.result import Difference, ExactResult, Proof

__all__ = [
    "POINTS", "Difference", "ExactResult", "Location", "Proof", "compare", "first_difference",
    "first_wrong_derivative", "general_programs", "general_robot", "prove", "runtime_parameters",
]  # fmt: skip
