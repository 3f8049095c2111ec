"""Products of derivatives and a vector, by any formulation.

`by_statements` differentiates all that is written, statement by statement; where that is how
accelerations are found, `by_torques` differentiates the torques that they take instead.
"""

from symgen.formulations.products import by_statements, by_torques

__all__ = ["by_statements", "by_torques"]
