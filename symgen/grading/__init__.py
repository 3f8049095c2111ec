"""`symgen grade`: exact comparison of a student's answer with the truth.

    read_answer        text                -> assignments              (answer)
    Questions          assignments         -> entries, steps, SymPy    (questions)
    values             both sides          -> numbers of prime fields  (residues, truth)
    wrong_terms        both sides          -> the wrong terms          (terms)
    slips_of           robot               -> robots of usual slips    (slips)

Both sides are evaluated at random points of prime fields of 127 bits, where angles are points of
the circle: expressions that agree there are identical, up to a negligible probability
(`symgen.algebra.prime_field`).  There is no tolerance, and the form of an answer does not matter.
Roots, absolute values and inverse functions are evaluated at real numbers
(`symgen.grading.reals`).  An answer that is wrong for this robot, but identically right for a
changed one, reveals the slip.
"""

from symgen.grading.grade import Graded, Verdict, grade

__all__ = ["Graded", "Verdict", "grade"]
