"""Forces of the model: springs between points, and what its expressions say.

Adding a type is one file here and one entry of `FORCES`, beside the key of the model file
(`symgen.description.schema`, `symgen.description.forces`).
"""

from __future__ import annotations

from typing import Any

from symgen.kinematics.forces.applied import AppliedForce
from symgen.kinematics.forces.interface import Action, Making, ModelForce, PointMotion
from symgen.kinematics.forces.spring import Spring

FORCES: tuple[type[ModelForce[Any]], ...] = (Spring, AppliedForce)

__all__ = ["FORCES", "Action", "Making", "ModelForce", "PointMotion"]
