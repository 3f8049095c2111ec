"""The types of joints.  A new type is one file here and one entry of `JOINTS`.

The model file's schema, its checks and the kinematics all read this tuple.
"""

from symgen.joints.cylindrical import Cylindrical
from symgen.joints.fixed import Fixed
from symgen.joints.floating import Floating
from symgen.joints.helical import Helical
from symgen.joints.interface import Chain, Directions, JointType, Motion
from symgen.joints.planar import Planar
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute
from symgen.joints.spherical import Spherical
from symgen.joints.universal import Universal

JOINTS: tuple[JointType, ...] = (
    Revolute(),
    Prismatic(),
    Fixed(),
    Universal(),
    Cylindrical(),
    Helical(),
    Planar(),
    Spherical(),
    Floating(),
)

__all__ = ["JOINTS", "Chain", "Directions", "JointType", "Motion", "joint_type"]


def joint_type(name: str) -> JointType:
    """The joint type called `name`; KeyError if there is none."""
    for candidate in JOINTS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)
