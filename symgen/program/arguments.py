"""The arguments and results of functions: names, shapes, units and frames.

Shapes are written in the sizes of `symgen.kinematics.tree.KinematicTree.sizes`; batch axes stand in
front of every shape.  n is the number of coordinates, which are also velocities.  n_joints is
larger than n where joints follow others (mimic joints).  nq, the number of entries of q, differs
from n where joints have quaternions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Size = int | str


@dataclass(frozen=True)
class Argument:
    """An array argument or result of a function, without its batch axes."""

    name: str
    shape: tuple[Size, ...]
    meaning: str

    def sizes(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape in numbers."""
        return tuple(size if isinstance(size, int) else sizes[size] for size in self.shape)


EMPTY: Mapping[str, str] = {
    "n_points": "This model has no points, so these arrays are empty; 'points:' of the model file, "
    "or --point LINK[:x,y,z], adds one.",
    "n_loads": "This model has no loads, so this array is empty; 'loads:' of the model file, or "
    "--load LINK[:x,y,z], adds one.",
}


def why_empty(results: Iterable[Argument], sizes: Mapping[str, int]) -> str:
    """Say why results have no entries, and the remedy; "" where they have some."""
    sizes_of_results = {size for result in results for size in result.shape}
    return next((EMPTY[size] for size in EMPTY if size in sizes_of_results and not sizes[size]), "")


Q = Argument("q", ("nq",), "joint coordinates (rad or m)")
QD = Argument("qd", ("n",), "their velocities (rad/s or m/s)")
QDD = Argument("qdd", ("n",), "their accelerations (rad/s^2 or m/s^2)")
LOADS = Argument(
    "loads",
    ("n_loads", 6),
    "wrenches [fx fy fz nx ny nz] exerted by the environment on the links, base axes, "
    "the force at the load's point (N, N m)",
)
PARAMETERS = Argument("parameters", ("n_parameters",), "values of the runtime parameters")
TAU = Argument("tau", ("n",), "joint torques or forces (N m or N)")
MULTIPLIERS = Argument("multipliers", ("n",), "weights of the torques in their sum")


T = Argument("t", (), "time (s)")
CONSTRAINT_MULTIPLIERS = Argument(
    "constraint_multipliers", ("n_constraints",), "one for every row of the constraints"
)

MOTION_MULTIPLIERS = Argument(
    "motion_multipliers",
    (3, "n_motion_multipliers"),
    "in rows: multipliers of the constraints, of the projections of velocities, and of those of "
    "accelerations; in the order of constraint_names",
)


def by_row(name: str, meaning: str) -> Argument:
    """Return a matrix with a row for every constraint and a column for every joint."""
    return Argument(name, ("n_constraints", "n"), meaning)


LINK = Argument("name", (), "a link, one of link_names")
Y = Argument(
    "y",
    ("n",),
    "unknown of every coordinate: the torque or force of its joint where its motion is "
    "prescribed, its acceleration where it is free",
)
X = Argument(
    "x",
    ("n",),
    "what is given of every coordinate: its acceleration where its motion is prescribed, the "
    "torque or force of its joint where it is free",
)
PIVOTS = "pivots"
DIAGONAL = "diagonal"


def _solvable(size: Size) -> tuple[Argument, ...]:
    return (
        Argument(PIVOTS, (size,), "pivots of the mass matrix of the free joints"),
        Argument(DIAGONAL, (size,), "diagonal of the mass matrix of the free joints"),
    )


ALL_FREE = _solvable("n")
SOME_FREE = _solvable("n_free")


def by_joint(name: str, meaning: str) -> Argument:
    """Return a matrix of entries by pair of joints."""
    return Argument(name, ("n", "n"), meaning)


def by_parameter(name: str, of: str, *shape: Size) -> Argument:
    """Return the derivative of the array `of` with respect to the runtime parameters."""
    indices = ", ".join("ijk"[: len(shape)])
    value = f"{of}[{indices}]" if shape else of
    index = f"[{indices}, k]" if shape else "[k]"
    return Argument(name, (*shape, "n_parameters"), f"{index} = d {value} / d parameters[k]")


def along(name: str, of: str) -> Argument:
    """Return the total derivative of an argument or result by the runtime parameters."""
    return Argument(
        name,
        ("n", "n_parameters"),
        f"[i, k] = d {of}_i / d parameters[k]: how {of} itself varies with the parameters",
    )


def of_outputs(name: str, by: str, *shape: Size) -> Argument:
    """Return a derivative of the outputs of the model."""
    return Argument(name, ("n_outputs", *shape), f"derivatives of the outputs with respect to {by}")


WRENCHES = Argument(
    "joint_wrenches",
    ("n_joints", 6),
    "[fx fy fz nx ny nz] exerted by the parent on the link through its joint, link-frame axes; "
    "moment about the frame that a standard DH row starts from, else about the origin of the link "
    "frame (N, N m)",
)


def point_slope(what: str, name: str, by: str) -> Argument:
    """Return a derivative of the motion of the model's points."""
    return Argument(
        f"d{what}_d{by}", ("n_points", 3, "n"), f"[i, c, j] = d {name}_i[c] / d {by}_j, base axes"
    )
