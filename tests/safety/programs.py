"""Programs that a child Python runs on the package two_link, as a user would write them."""

import os
import sys
import textwrap

from tests.support.commands import printed_by

BEGIN = """
import sys, time, threading, warnings
import numpy as np
import two_link
assert two_link.backend == "compiled"
rng = np.random.default_rng(1)
q = rng.uniform(-1.0, 1.0, (200_000, 2))  # worth several threads
some = q[:1000]
wanted = two_link.inverse_dynamics_derivatives(q, q, q)
def right(number=4):
    two_link.threads = number
    found = two_link.inverse_dynamics_derivatives(q, q, q)
    return all(np.array_equal(a, b) for a, b in zip(found, wanted))
"""


def succeeds(folder, program, *, begin=BEGIN, variables=None):
    """Run the program in a child that finds the package; return what it prints without an error."""
    own = {"PYTHONPATH": str(folder), "PYTHONFAULTHANDLER": "1", **(variables or {})}
    return printed_by(
        sys.executable, "-c", begin + textwrap.dedent(program),
        env={**os.environ, **own}, timeout=120,
    )  # fmt: skip
