"""A model as plain arrays, for contestants that do not read symgen's files.

Every joint turns about, or moves along, the z axis of its own frame, or moves freely, by position
and unit quaternion (x, y, z, w), at velocities in the axes of the body; the inertial parameters of
everything that moves with a joint are merged and given in that frame.  Bodies stand depth first:
Pinocchio's `crba` and `computeRNEADerivatives` are silently wrong otherwise.  `order` leads back to
the velocities of the file, and `order_of_q` to its coordinates: the k-th of the bodies is number
``order[k]`` of the file.

The arrays are computed here from the checked description, not by symgen's own model of the tree, so
that agreement of the numbers means something.
"""

from dataclasses import dataclass

import numpy as np

from symgen.description.expressions import evaluate

BASE = -1

ROUNDING = 1e-15
"""Entries of placements below this are 0, as cos(pi/2) ought to be: generators fold zeros away."""


@dataclass(frozen=True)
class RigidBodies:
    """Bodies with one joint each; the parent of body i is ``parents[i]`` < i, or `BASE`."""

    order: np.ndarray
    order_of_q: np.ndarray
    parents: np.ndarray
    prismatic: np.ndarray
    free: np.ndarray
    """Whether a body moves freely: 7 coordinates, 6 velocities."""

    offsets: np.ndarray
    """Added to the coordinates of revolute joints, as the theta of a DH row."""

    twists: np.ndarray
    """(n, 3, 3): joint frame to the frame of the parent's joint, where coordinate + offset is 0."""

    positions: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray
    """(n, 3, 3), about the centre of mass."""
    gravity: np.ndarray

    @property
    def count(self):
        return len(self.parents)

    @property
    def n(self):
        return len(self.order)

    @property
    def nq(self):
        return len(self.order_of_q)

    @property
    def rotations(self):
        """(n, 3, 3): joint frame to the frame of the parent's joint, where the coordinate is 0."""
        return self.twists @ np.array([_rotation(2, offset) for offset in self.offsets])

    @property
    def quaternions(self):
        """Places of the quaternions in the coordinates of the file."""
        starts = np.cumsum(np.where(self.free, 7, 1)) - 7
        return [self.order_of_q[start + 3 : start + 7] for start in starts[self.free]]

    def depth_first(self, states):
        """Coordinates or velocities of the file -> in the order of the bodies, in the last axis."""
        order = self.order_of_q if states.shape[-1] == self.nq else self.order
        return np.ascontiguousarray(states[..., order])

    def in_file_order(self, values):
        """The inverse of `depth_first` in every axis but the first, which counts samples."""
        for axis in range(1, values.ndim):
            values = np.take(values, np.argsort(self.order), axis=axis)
        return values


class UnsuitableModelError(Exception):
    """The model has something that not all contestants know."""


def rigid_bodies(description):
    """The bodies of a description whose joints turn, slide or move freely, without further terms.

    Loads are left out: they are an argument, and the models of the benchmarks have none.
    """
    return _Assembly(description).result()


class _Assembly:
    """Goes through the joints depth first and merges what is fixed to each other."""

    def __init__(self, description):
        self.description = description
        self.values = dict(description.parameter_values)
        self.bodies = []
        self.carriers = {"base": (BASE, np.eye(4))}  # link -> its body, and its pose in that frame
        self._check_terms()

    def result(self):
        waiting = ["base"]
        while waiting:
            link = waiting.pop()
            for joint in self.description.joints:
                if joint.link.name == link:
                    self._add(joint)
            children = [j.link.name for j in self.description.joints if j.parent == link]
            waiting += reversed(children)
        merged = [_merged(body["parts"]) for body in self.bodies]
        placements = np.array([body["placement"] for body in self.bodies])
        placements[np.abs(placements) < ROUNDING] = 0.0
        return RigidBodies(
            order=self._order(lambda joint: joint.coordinate_names),
            order_of_q=self._order(lambda joint: joint.position_names),
            parents=np.array([body["parent"] for body in self.bodies]),
            prismatic=np.array([body["joint"].type == "prismatic" for body in self.bodies]),
            free=np.array([body["joint"].type == "floating" for body in self.bodies]),
            offsets=np.array([body["offset"] for body in self.bodies]),
            twists=placements[:, :3, :3],
            positions=placements[:, :3, 3],
            masses=np.array([mass for mass, _, _ in merged]),
            centers=np.array([center for _, center, _ in merged]),
            inertias=np.array([inertia for _, _, inertia in merged]),
            gravity=self._vector(self.description.gravity),
        )

    def _order(self, names_of):
        """Numbers in the file of what the joints of the bodies have under these names."""
        known = [name for joint in self.description.joints for name in names_of(joint)]
        mine = [name for body in self.bodies for name in names_of(body["joint"])]
        return np.array([known.index(name) for name in mine])

    def _check_terms(self):
        for joint in self.description.joints:
            for terms in joint.terms:
                for key in ("rotor_inertia", "damping", "stiffness", "friction"):
                    if self._number(getattr(terms, key)):
                        raise UnsuitableModelError(f"joint {joint.name} has {key}")

    def _add(self, joint):
        parent, pose = self.carriers[joint.parent]
        ahead, offset, behind = self._around_motion(joint)
        if joint.type == "fixed":
            self.carriers[joint.link.name] = (parent, pose @ ahead @ behind)
        elif joint.type in ("revolute", "prismatic") or _is_free(joint):
            self.bodies.append(
                {
                    "joint": joint,
                    "parent": parent,
                    "offset": offset,
                    "placement": pose @ ahead,
                    "parts": [],
                }
            )
            self.carriers[joint.link.name] = (len(self.bodies) - 1, behind)
        else:
            raise UnsuitableModelError(f"joint {joint.name} is {joint.type}")
        body, pose = self.carriers[joint.link.name]
        if body != BASE:
            self.bodies[body]["parts"].append(self._part(joint.link, pose))

    def _around_motion(self, joint):
        """The pose ahead of the motion about or along z, its offset, and the pose behind."""
        if joint.dh is None:
            ahead = self._pose(joint.origin)
            if joint.axis is None or joint.type == "fixed":
                return ahead, 0.0, np.eye(4)
            turn = np.eye(4)
            turn[:3, :3] = _z_onto(self._vector(joint.axis))
            return ahead @ turn, 0.0, turn.T
        ahead = np.eye(4) if joint.before is None else self._pose(joint.before)
        theta, d, a, alpha = (
            self._number(x) for x in (joint.dh.theta, joint.dh.d, joint.dh.a, joint.dh.alpha)
        )
        offset = theta if joint.type == "revolute" else 0.0
        about_z = _pose(_rotation(2, theta - offset), [0.0, 0.0, d])
        about_x = _pose(_rotation(0, alpha), [a, 0.0, 0.0])
        if joint.dh.convention == "standard":
            return ahead, offset, about_z @ about_x
        return ahead @ about_x, offset, about_z

    def _part(self, link, pose):
        xx, yy, zz, xy, xz, yz = (self._number(x) for x in link.inertia)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        turn = pose[:3, :3]
        return (
            self._number(link.mass),
            turn @ self._vector(link.com) + pose[:3, 3],
            turn @ tensor @ turn.T,
        )

    def _pose(self, origin):
        x, y, z = self._vector(origin.rpy)
        return _pose(_rotation(2, z) @ _rotation(1, y) @ _rotation(0, x), self._vector(origin.xyz))

    def _vector(self, expressions):
        return np.array([self._number(x) for x in expressions])

    def _number(self, expression):
        return float(evaluate(expression, self.values))


def _is_free(joint):
    """Whether it moves by position and quaternion."""
    return joint.type == "floating" and joint.manifold is not None


def _merged(parts):
    """Mass, centre and inertia about it, of several bodies fixed to each other."""
    mass = sum(part[0] for part in parts)
    center = sum(m * c for m, c, _ in parts) / mass if mass else np.zeros(3)
    inertia = np.zeros((3, 3))
    for m, c, tensor in parts:
        arm = c - center
        inertia = inertia + tensor + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia


def _pose(rotation, position):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def _rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    i, k = (axis + 1) % 3, (axis + 2) % 3
    result = np.eye(3)
    result[i, i] = result[k, k] = c
    result[i, k], result[k, i] = -s, s
    return result


def _z_onto(axis):
    """A rotation that takes z onto `axis`."""
    z = axis / np.linalg.norm(axis)
    helper = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
