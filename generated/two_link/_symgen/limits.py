"""Tolerances of the validation.

Errors are relative: the largest difference in a sample divided by max(1, largest magnitude in the
reference array of that sample); a NaN counts as an infinite error.  Each limit is a constant times
the unit roundoff and the number of coordinates, because the longest chain of dependent operations
of a recursion grows with n.  The constants are about twenty times the largest error met on random
trees of up to 20 coordinates, so that a correct model never fails, while a wrong sign or a wrong
frame (an error of order one) exceeds them by ten powers of ten.

Terms may cancel, and matrices may be ill-conditioned, to any degree.  Where an error exceeds such a
bare limit the effect of roundings on that comparison is measured, state by state, and `ROUNDED`
times as much is allowed besides (`disturbance`); comparisons that roundings dominate are not
counted (`VISIBLE`).  For robots whose terms cancel (a very heavy base, say) bare limits are
multiplied by the condition of the robot: see `symgen.validation.conditioning`.

Solving for accelerations multiplies the rounding errors of torques by the inverse of the mass
matrix.  A limit of qdd without that factor would be wrong for an arm with a light wrist, and one
for the worst case would detect nothing.  Errors of qdd are therefore also relative to `SOLVED`
times the bound that mass matrix and torques of the sample give (`scales`); substitution into
inverse dynamics is well-conditioned, and held to the bare limits.
"""

from __future__ import annotations

from collections.abc import Callable

EPS = 2.0**-52
"""Spacing of float64 at 1."""

STEP = 1e-100
"""Complex step: its square vanishes relative to 1, so that derivatives are exact to rounding, and
is still a normal number, so that nothing underflows."""

SOLVED = 0.1
"""Allowed share of the bound of the errors of qdd.  On random trees with masses and inertias from
1e-5 to 1e3, whose mass matrices have condition numbers up to 3e6, the largest error of any
formulation was a quarter of its limit; without the bound, 3,400 times its limit."""

TWO_LINK = 1e-13
"""Two-link arm against the printed formulas: about 20 operations on numbers of order 10."""

ROUNDED = 32.0
"""Multiple of the measured effect of roundings (`disturbance`) that is allowed."""

VISIBLE = 1e-4
"""Largest effect of roundings at which a comparison counts."""


def _limit(factor: float) -> Callable[[int], float]:
    """Return a limit as a function of the number n of coordinates."""
    return lambda n: factor * EPS * (n + 4)


agreement = _limit(200.0)
"""One array by two computations: sums of about n terms, each a chain of n products."""
derivative = _limit(300.0)
"""A derivative against complex step: n more terms per entry than the function itself."""
difference = _limit(2e4)
"""A derivative against differences (`symgen.validation.oracle_curvatures`)."""
physics = _limit(300.0)
"""Identities between different functions of one module: their rounding errors add up."""
exact = _limit(0.0)
"""Constants that are written, not computed."""
rotation = _limit(20.0)
"""Orthonormality of a product of up to n rotations: each factor adds a few roundings."""
interface = _limit(100.0)
"""One function through two paths (single sample, batch): only sin, cos may differ."""


def steps(ratio: float) -> float:
    """Return the limit of a few steps of a mechanism by two programs.

    Roundings of coordinates, times 4 / h^2 in accelerations, times the square of `ratio`, the
    largest singular value of the Jacobian over the smallest that counts.
    """
    return 1e7 * EPS * ratio**2


def samples(n: int) -> int:
    """Return the number of random states, fewer for models with many coordinates."""
    return 20 if n <= 8 else 8 if n <= 20 else 3 if n <= 60 else 1
