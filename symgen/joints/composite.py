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
    """No motion: the link is merged into its parent before anything is derived."""

    name = "fixed"
    coordinates = 0
    keys: tuple[str, ...] = ("dh",)
    forbids: tuple[Row, ...] = (*TOGETHER, *PARALLEL, ("u", "v"))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Nothing moves."""
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

    The two motions commute: the pose is that of a screw whose travel and turn are independent.
    """

    name = "cylindrical"
    coordinates = 2
    keys: tuple[str, ...] = ("axis",)
    forbids: tuple[Row, ...] = (*PARALLEL, ("u", GAP), ("v", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """The translation, then the rotation."""
        return ((Prismatic(), directions.axis), (Revolute(), directions.axis))


class Planar(JointType):
    """The link's origin moves in a plane, and the link turns about its normal, the axis.

    The two directions in the plane are those of `in_plane`.
    """

    name = "planar"
    coordinates = 3
    keys: tuple[str, ...] = ("axis",)
    forbids: tuple[Row, ...] = (*PARALLEL, ("axis", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Two translations, then the rotation."""
        first, second = in_plane(directions)
        return (
            (Prismatic(), first),
            (Prismatic(), second),
            (Revolute(), directions.axis),
        )


class Spherical(JointType):
    """Three rotations, each about an axis that the former ones turned.

    Its coordinates are the three angles, so it has a singular attitude: where the middle angle
    makes the first and the last axis parallel (at +-pi/2 for three different axes, at 0 and pi for
    sequences such as zxz), two coordinates turn about one axis and the mass matrix is singular.  A
    sequence whose singular attitude lies out of reach avoids it.
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
    """A free body: moved along x, y and z of the joint frame, then turned.

    The translation is that of the link's origin in the joint frame; the rotations are those of a
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
    """Return two unit vectors that are normal to the axis and to each other.

    They are what the shortest rotation that takes z to the axis makes of x and y.  For the default
    axis, z, they are x and y of the joint frame.

    For -z there is no shortest rotation, and no convention is continuous at every axis (there is no
    continuous frame field on a sphere).  The axis -z stands for half a turn about x.  An axis whose
    z is -1 to rounding, less than about 1e-8 rad from -z, has that frame, tilted by the shortest
    rotation from -z to the axis; so what is rounded in -z does not turn the directions.

    1 + c, by which the shortest rotation is divided, loses its digits where c is near -1; half of
    (1 + c)^2 + a^2 + b^2 is equal to it for a unit vector, and loses none.
    """
    (x, y, z), (a, b, c) = directions.units, directions.axis
    rise = z.z + c
    if rise == z.x:  # -z to rounding: a and b are below 2e-8, and their squares vanish beside 1
        return Vector(x.x, x.y, a), Vector(y.x, -y.y, -b)
    twice = rise * rise + a * a + b * b
    across, along_x, along_y = (-((u * v + u * v) / twice) for u, v in ((a, b), (a, a), (b, b)))
    return Vector(x.x + along_x, across, -a), Vector(across, y.y + along_y, -b)
