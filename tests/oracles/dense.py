"""Accelerations and torques by numpy, from the mass matrix and the bias forces of a formulation.

For complex arguments, too: it is what derivatives of solving functions are held against.
"""

import numpy as np

from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.program.evaluation import call
from tests.oracles.comparison import prescribed_coordinates
from tests.oracles.programs import evaluated


class DenseRobot:
    """M qdd + bias = tau of a description, by a formulation that solves nothing itself."""

    def __init__(self, description, runtime=()):
        self.prescribed = prescribed_coordinates(description)
        self.programs = [
            evaluated(description, RECURSIVE_LAGRANGE, name, runtime)
            for name in ("mass_matrix", "bias_forces")
        ]

    def forward(self, state):
        """qdd (..., n) of the torques `tau`, all joints free."""
        return self._solved(state, state["tau"], np.zeros_like(self.prescribed))

    def hybrid(self, state):
        """What is not given, (..., n), of what is: `x`."""
        return self._solved(state, state["x"], self.prescribed)

    def _solved(self, state, x, prescribed):
        (mass,), (bias,) = (call(program, state) for program in self.programs)

        def pushed(qdd):
            return np.einsum("...ij,...j->...i", mass, qdd)

        rest = np.where(prescribed, 0.0, x - bias - pushed(np.where(prescribed, x, 0.0)))
        block = np.where(prescribed[:, None] | prescribed, np.eye(len(prescribed)), mass)
        qdd = np.where(prescribed, x, np.linalg.solve(block, rest[..., None])[..., 0])
        return np.where(prescribed, bias + pushed(qdd), qdd)
