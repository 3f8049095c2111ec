"""Forces of the model: springs between points, and forces given by expressions.

A new type is one file here, one entry of `FORCES`, and its key in the model file
(`symgen.description.schema`, `symgen.description.forces`).
"""

from __future__ import annotations

from typing import Any

from symgen.kinematics.forces.applied import AppliedForce
from symgen.kinematics.forces.interface import Action, Making, ModelForce, PointMotion
from symgen.kinematics.forces.spring import Spring

FORCES: tuple[type[ModelForce[Any]], ...] = (Spring, AppliedForce)

__all__ = ["FORCES", "Action", "Making", "ModelForce", "PointMotion"]
