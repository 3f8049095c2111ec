"""Recursive Lagrangian dynamics with 4x4 transforms on open trees (Xiang 2009, open-tree paper).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.  Derivatives are those of every line: `symgen.formulations.direct`.
"""

from symgen.formulations import torques
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, functions_in, notes_in
from symgen.formulations.recursive_lagrange import kinematics, mass_center, recursion

FUNCTIONS = {**torques.functions(recursion.rigid), **functions_in(kinematics, mass_center)}

RECURSIVE_LAGRANGE = Formulation(
    name="recursive_lagrange",
    title="Recursive Lagrange, 4x4 transforms",
    source="Xiang 2009, section 4, and the open-tree paper",
    notes=notes_in(recursion, kinematics, mass_center),
    functions=with_derivatives(FUNCTIONS),
    weight=2.5,
)
