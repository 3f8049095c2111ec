"""`symgen grade`: a student's answer against the truth, exactly.

    read_answer        text                -> assignments              (answer)
    Questions          assignments         -> entries, steps, SymPy    (questions)
    values             both sides          -> numbers of prime fields  (residues, truth)
    first_wrong_term   what differs        -> the term at fault        (terms)
    slips_of           robot               -> robots of usual slips    (slips)

Both sides are evaluated at random points of prime fields of 127 bits, where angles are points of
the circle: what agrees there is identical, up to a probability that nobody will ever meet
(`symgen.algebra.prime_field`).  There is no tolerance, and how an answer is written does not
matter.  Roots and the like are decided among real numbers (`symgen.grading.reals`).  An answer
that is wrong for this robot, and identically right for one that the student has mistaken it for,
tells the slip.
"""

from symgen.grading.grade import Graded, Verdict, grade

__all__ = ["Graded", "Verdict", "grade"]
