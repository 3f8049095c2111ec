"""Every tolerance of the validation, in one file.

Errors are relative: the largest difference in a sample divided by max(1, largest magnitude in the
reference array of that sample); a NaN counts as an infinite error.  Each limit is a constant times
the unit roundoff and the number of coordinates, because the longest chain of dependent operations
of a recursion grows with n.  The constants are about twenty times the largest error met on random
trees of up to 20 coordinates, so that a correct model never fails, while a wrong sign or a wrong
frame (an error of order one) misses them by ten powers of ten.

Terms may cancel, and matrices may be ill-conditioned, to any degree.  Where an error exceeds such a
bare limit the effect of roundings on that comparison is measured, state by state, and `ROUNDED`
times as much is allowed besides (`disturbance`); a comparison that they hide says
nothing, and is not counted (`VISIBLE`).  For robots whose terms cancel (a very heavy base, say)
bare limits are multiplied by the condition of the robot: see `symgen.validation.conditioning`.

Solving for accelerations multiplies the rounding errors of torques by the inverse of the mass
matrix.  A limit of qdd that ignored this would be wrong for an arm with a light wrist, and one for
the worst case would find nothing.  Errors of qdd are therefore also relative to `SOLVED` times the
bound that the mass matrix and the torques of the sample give (`scales`);
what is put back into inverse dynamics is well-conditioned, and held to the bare limits.
"""

EPS = 2.0**-52  # spacing of float64 at 1

STEP = 1e-100
"""Complex step: its square vanishes beside 1, so derivatives are exact to rounding, and its square
is still a normal number, so nothing underflows."""

SOLVED = 0.1
"""How much of the bound of the errors of qdd counts.  Of random trees with masses and inertias from
1e-5 to 1e3, whose mass matrices have condition numbers up to 3e6, the largest error of any
formulation was then a quarter of its limit; without the bound, 3,400 times its limit."""

TWO_LINK = 1e-13
"""Two-link arm against the printed formulas: about 20 operations on numbers of order 10."""


ROUNDED = 32.0
"""How many times the measured effect of roundings (`disturbance`) is allowed."""

VISIBLE = 1e-4
"""Where roundings may be larger than this, a comparison says nothing, and is not counted."""


def agreement(n: int) -> float:
    """Two ways to compute the same array: sums of about n terms, each a chain of n products."""
    return 200.0 * EPS * (n + 4)


def derivative(n: int) -> float:
    """A derivative against complex step: n more terms per entry than the function itself."""
    return 300.0 * EPS * (n + 4)


def difference(n: int) -> float:
    """A derivative against differences (`symgen.validation.oracle_curvatures`)."""
    return 2e4 * EPS * (n + 4)


def physics(n: int) -> float:
    """Identities between different functions of one module: their rounding errors add up."""
    return 300.0 * EPS * (n + 4)


def exact(n: int) -> float:
    """Constants that are written, not computed."""
    return 0.0


def rotation(n: int) -> float:
    """Orthonormality of a product of up to n rotations: each factor adds a few roundings."""
    return 20.0 * EPS * (n + 4)


def interface(n: int) -> float:
    """One function through two paths (single sample, batch): only sin, cos may differ."""
    return 100.0 * EPS * (n + 4)


def steps(ratio: float) -> float:
    """Two ways to make a few steps of a mechanism: roundings of coordinates, times 4 / h^2 in
    accelerations, times the square of `ratio`, the largest singular value of its Jacobian over the
    smallest that counts."""
    return 1e7 * EPS * ratio**2


def samples(n: int) -> int:
    """Number of random states: fewer for large models, where every state tests n^2 entries."""
    if n <= 8:
        return 20
    return 8 if n <= 20 else 3 if n <= 60 else 1
