"""Robot descriptions: reading model files and checking them."""

from symgen.description.checks import read
from symgen.description.model import RobotDescription

__all__ = ["RobotDescription", "read"]
