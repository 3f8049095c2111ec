"""Types of joints that consist of rotations and translations, from the parent outwards."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.joints.closing import GAP, PARALLEL, TOGETHER, Row
from symgen.joints.interface import Chain, Directions, JointType
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute

SEQUENCES: tuple[str, ...] = (
    "zyx", "xyz", "xzy", "yxz", "yzx", "zxy",
    "xyx", "xzx", "yxy", "yzy", "zxz", "zyz",
)  # fmt: skip
"""All sequences of three axes in which no axis follows itself, the default first."""


class Fixed(JointType):
    """No motion: the link is merged into its parent before derivation."""

    name = "fixed"
    coordinates = 0
    keys: tuple[str, ...] = ("dh",)
    forbids: tuple[Row, ...] = (*TOGETHER, *PARALLEL, ("u", "v"))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """No motions."""
        return ()


class Universal(JointType):
    """Two rotations about different axes of the joint frame, as in a Cardan joint.

    The first axis stays with the parent, the second one turns with the first rotation.
    """

    name = "universal"
    coordinates = 2
    keys: tuple[str, ...] = ("axes",)
    sequences: tuple[str, ...] = ("xy", "xz", "yx", "yz", "zx", "zy")
    forbids: tuple[Row, ...] = (*TOGETHER, ("axis", "axis"))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Two rotations."""
        return directions.rotations(Revolute())


class Cylindrical(JointType):
    """A translation along an axis, then a rotation about it.

    The two motions commute: the pose is a screw with independent translation and rotation.
    """

    name = "cylindrical"
    coordinates = 2
    keys: tuple[str, ...] = ("axis",)
    forbids: tuple[Row, ...] = (*PARALLEL, ("u", GAP), ("v", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Return the translation, then the rotation."""
        return ((Prismatic(), directions.axis), (Revolute(), directions.axis))


class Planar(JointType):
    """A translation in a plane and a rotation about its normal, the axis.

    `in_plane` gives the two directions in the plane.
    """

    name = "planar"
    coordinates = 3
    keys: tuple[str, ...] = ("axis",)
    forbids: tuple[Row, ...] = (*PARALLEL, ("axis", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Two translations, then the rotation."""
        first, second = in_plane(directions)
        return ((Prismatic(), first), (Prismatic(), second), (Revolute(), directions.axis))


class Spherical(JointType):
    """Three rotations, each about an axis that the previous rotations have turned.

    Its coordinates are the three angles, with a singular attitude: where the middle angle makes the
    first and the last axis parallel (at +-pi/2 for three different axes, at 0 and pi for sequences
    such as zxz), two coordinates rotate about one axis and the mass matrix is singular.  Choose a
    sequence whose singular attitude is out of reach.
    """

    name = "spherical"
    coordinates = 3
    keys: tuple[str, ...] = ("sequence",)
    sequences: tuple[str, ...] = SEQUENCES
    forbids: tuple[Row, ...] = TOGETHER

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Three rotations."""
        return directions.rotations(Revolute())


class Floating(JointType):
    """A free body: translations along x, y and z of the joint frame, then rotations.

    The coordinates are the position of the link's origin in the joint frame and the angles of a
    spherical joint, with its singular attitudes.
    """

    name = "floating"
    coordinates = 6
    keys: tuple[str, ...] = ("sequence",)
    sequences: tuple[str, ...] = SEQUENCES

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Three translations, then three rotations."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *directions.rotations(Revolute()))


def in_plane(directions: Directions[S]) -> tuple[Vector[S], Vector[S]]:
    """Compute two unit vectors that are normal to the axis and to each other.

    They are the images of x and y under the shortest rotation of z to the axis: x and y of the
    joint frame for the default axis, z.

    For -z the shortest rotation is not unique, and no convention is continuous at every axis (there
    is no continuous frame field on a sphere); half a turn about x is chosen.  An axis whose z is -1
    to rounding, less than about 1e-8 rad from -z, has that frame, tilted by the shortest rotation
    from -z to the axis, so that rounding of -z does not turn the directions.

    The shortest rotation is divided by 1 + c, which cancels for c near -1; half of
    (1 + c)^2 + a^2 + b^2 is equal for a unit vector and does not cancel.
    """
    (x, y, z), (a, b, c) = directions.units, directions.axis
    rise = z.z + c
    if rise == z.x:  # -z to rounding: a and b are below 2e-8, and their squares vanish beside 1
        return Vector(x.x, x.y, a), Vector(y.x, -y.y, -b)
    twice = rise * rise + a * a + b * b
    across, along_x, along_y = (-((u * v + u * v) / twice) for u, v in ((a, b), (a, a), (b, b)))
    return Vector(x.x + along_x, across, -a), Vector(across, y.y + along_y, -b)
