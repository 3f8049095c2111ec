"""Steps on manifolds: how a displacement from one configuration is seen at the next one.

A step leads from q to integrate(q, u), and displacements of both ends are in the axes that moving
bodies have there.  With ad e = [u, e], which is 0 but for joints with a quaternion,

    integrate(q, u + d)           = integrate(integrate(q, u), T d),   T = sum (-ad)^k / (k + 1)!
    integrate(integrate(q, e), u) = integrate(integrate(q, u), carry e),   carry = 1 - ad T

to the first order in d and e.  T is the differential of the exponential as it is seen from where it
leads, the series of dexp of Iserles and others (2000) with -ad for ad, since `integrate` turns
bodies about axes of their own.
"""

from __future__ import annotations

import numpy as np

from symgen.robot.configuration import Configuration
from symgen.simulation.arguments import Array

MOST_TERMS = 40
ENOUGH = 1e-17


def operators(space: Configuration, u: Array) -> tuple[Array, Array]:
    """T and carry of a displacement u (n,), each (n, n)."""
    one = np.eye(space.n)
    ad = space.transported(u, one)
    T, term = one.copy(), one
    for k in range(1, MOST_TERMS):
        term = -(ad @ term) / (k + 1)
        T += term
        if not np.abs(term).max(initial=0.0) > ENOUGH:
            break
    return T, one - ad @ T
