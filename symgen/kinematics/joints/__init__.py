"""The types of joints.  A new type is one file here and one entry of `JOINTS`."""

from symgen.kinematics.joints.fixed import Fixed
from symgen.kinematics.joints.interface import JointType
from symgen.kinematics.joints.prismatic import Prismatic
from symgen.kinematics.joints.revolute import Revolute

JOINTS: tuple[JointType, ...] = (Revolute(), Prismatic(), Fixed())

__all__ = ["JOINTS", "JointType", "joint_type"]


def joint_type(name: str) -> JointType:
    """The joint type called `name`; KeyError if there is none."""
    for candidate in JOINTS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)
