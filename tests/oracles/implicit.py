"""Forward dynamics, and its derivatives, from inverse dynamics alone.

What solves tau = ID(q, qd, qdd, p) is known where one starts from qdd; its derivatives follow by
implicit differentiation from complex steps of ID.  Nothing here knows how M is formed or solved."""

import numpy as np

from symgen.algebra.graph import Graph
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from tests.oracles.comparison import STEP, evaluated, state_of


class Implicit:
    """A robot at a state of `state_of`, with the runtime parameters `runtime`."""

    def __init__(self, description, seed, runtime=()):
        self.program = evaluated(description, NEWTON_EULER, "inverse_dynamics", runtime)
        self.state = state_of(description, seed)
        self.state["parameters"] = np.array([description.parameter_values[p] for p in runtime])
        (self.tau,) = call(self.program, self.state)
        self.qdd = self.state["qdd"]
        self.n = len(self.qdd)
        tree = build_tree(description, Graph())
        self.prescribed = np.array([joint.prescribed for joint in tree.joints], dtype=bool)
        self.M = self.slope("qdd")

    def slope(self, by):
        """d tau / d `by`, the axis of `by` last."""
        given = self.state[by]
        moved = {**self.state, by: given + 1j * STEP * np.eye(len(given))}
        return call(self.program, moved)[0].imag.T / STEP if len(given) else np.zeros((self.n, 0))

    @property
    def torques(self):
        """The arguments of forward dynamics, whose result is `qdd`."""
        return {**self.state, "tau": self.tau}

    def forward(self, by):
        """d qdd / d `by` at fixed tau; of tau itself the inverse of M."""
        return np.linalg.solve(self.M, np.eye(self.n) if by == "tau" else -self.slope(by))

    @property
    def given(self):
        """The arguments of hybrid dynamics."""
        return {**self.state, "x": np.where(self.prescribed, self.qdd, self.tau)}


def pivots(M):
    """Those of M = L^T D L: of every trailing block what is left of its first entry."""
    return np.array([1.0 / np.linalg.inv(M[k:, k:])[0, 0] for k in range(len(M))])
