"""Links with natural coordinates in a tree: see `symgen.joints.natural`.

In the tree each natural coordinate is a joint of one coordinate; only formulations that know
`NaturalLink` take such trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector
from symgen.description.model import JointDescription
from symgen.joints import Directions, NaturalCoordinates
from symgen.joints.closing import FRAME_AXES
from symgen.joints.composite import in_plane
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute
from symgen.kinematics.bodies import BodyAxis, massless
from symgen.kinematics.frames import Placement, identity_transform, placement, units
from symgen.kinematics.joint import Joint, terms_of

__all__ = ["FRAME_AXES", "NaturalLink", "natural_link"]


@dataclass(frozen=True)
class NaturalLink(Generic[S]):
    """A link with natural coordinates and the joint that carries it.

    `parent` is the number of the body that carries the joint, `numbers` are those of its
    coordinates; the last one is the number of its body.  The frames of the joint have the axes u,
    v and axis: `tree` is the pose of the one before the motion in the body that carries it, `link`
    the pose of the link in the one after it, `inner` the axis of the joint in the link (of a
    universal joint the second one), in the latter.  `offset` is added to the coordinate.
    """

    name: str
    parent: int
    numbers: tuple[int, ...]
    coordinates: NaturalCoordinates
    tree: Transform[S]
    link: Transform[S]
    inner: Vector[S]
    offset: S

    @property
    def number(self) -> int:
        """Number of its body."""
        return self.numbers[-1]

    @property
    def axis(self) -> BodyAxis[S]:
        """The axis of its joint."""
        return BodyAxis(self.number, self.link.rotation.apply_transposed(self.inner))

    @property
    def directions(self) -> tuple[int, ...]:
        """Numbers of the coordinates of unit vectors."""
        kind = self.coordinates
        return self.numbers[kind.displacement : len(self.numbers) - 3 * kind.point]


def natural_link(
    joint: JointDescription,
    coordinates: NaturalCoordinates,
    moved_entry: str,
    carrier: tuple[int, Transform[S]],
    before: int,
    algebra: Algebra[S],
) -> tuple[NaturalLink[S], list[Joint[S]]]:
    """Return the link of `joint`, and its coordinates as joints behind `before` others.

    `carrier` is the number of the body that carries the joint, and the pose in it of the frame in
    which the joint is described.
    """
    parent, pose = carrier
    at, still = placement(joint, moved_entry, algebra), identity_transform(algebra)
    axis = inner = at.axis
    if joint.type == "universal":
        axis, inner = (units(algebra)["xyz".index(letter)] for letter in joint.sequence)
    u, v = in_plane(Directions(axis, units(algebra), "", algebra.zero))
    rows = Matrix([tuple(u), tuple(v), tuple(axis)])
    turned = Transform(rows, still.translation)  # from x, y, z to components along these
    outer = pose @ at.tree @ Transform(turned.rotation.transposed, still.translation)
    along = Placement(still, units(algebra)[2], algebra.zero, still)
    entries = zip(joint.coordinate_names, joint.terms, joint.prescribed, strict=True)
    joints: list[Joint[S]] = []
    for number, (name, terms, prescribed) in enumerate(entries, start=before + 1):
        last, body, values = (
            number - 1 if joints else parent, massless(algebra), terms_of(terms, algebra),
        )  # fmt: skip
        turns = coordinates.displacement and coordinates.vectors and not joints
        motion = Revolute() if turns else Prismatic()
        joints.append(Joint(name, number, last, motion, along, body, values, prescribed))
    numbers = tuple(each.number for each in joints)
    poses = outer.settled(algebra), (turned @ at.link).settled(algebra)
    inner = turned.apply(inner)
    link = NaturalLink(joint.name, parent, numbers, coordinates, *poses, inner, at.offset)
    return link, joints
