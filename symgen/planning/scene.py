"""The robot among its obstacles: solids for the page, and a picture by Matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgen.page.animation import upright
from symgen.page.shapes import Shape, sphere, thinned
from symgen.planning.footprints import Footing, outline
from symgen.planning.obstacles import HalfSpace
from symgen.planning.quantities import options_of
from symgen.planning.task import Task
from symgen.support.arrays import Array

OBSTACLE = (0.80, 0.36, 0.25), 0.35
KEEPS_OUT = (0.20, 0.45, 0.80), 0.35
GROUND = (0.45, 0.55, 0.45), 0.12
"""Colour and opacity."""
FEET = (0.12, 0.37, 0.68), (0.70, 0.25, 0.05), (0.09, 0.42, 0.20), (0.54, 0.12, 0.48)
"""Colours of footprints, those of the curves of feet in the page."""
PRINT = 0.6
"""Opacity of footprints."""
STICKS = ("0.65", "0.1", "0.4")
"""Colours of the robot at the start, where it is nearest to an obstacle, at the end."""


def solids(module: Any, task: Task, q: Array, footing: Footing | None = None) -> tuple[Shape, ...]:
    """Return obstacles, as shapes of the base, and spheres, as shapes of their links.

    Of a half-space, a part of its plane below the motion q (K, nq) is drawn.  With contacts the
    ground and footprints are shapes of the base, too.
    """
    low, high = _bounds(_origins(module, task, q))
    size = 0.7 * float(np.linalg.norm(high - low))
    shapes = [
        Shape(-1, *obstacle.surface((low + high) / 2, size), *OBSTACLE)
        for obstacle in task.keep_out.obstacles
    ]
    for ball in task.keep_out.balls:
        vertices, faces = sphere(ball.radius)
        shapes.append(Shape(ball.link, vertices + ball.centre, faces, *KEEPS_OUT))
    if footing is not None:
        ground = HalfSpace("ground", footing.on_ground(np.zeros(2)), footing.contacts.axes[2])
        shapes.append(Shape(-1, *ground.surface((low + high) / 2, 0.7 * size), *GROUND))
        for foot, points in footing.prints():
            corners, faces = outline(points, footing.rim)
            colour = FEET[foot % len(FEET)]
            shapes.append(Shape(-1, footing.on_ground(corners), faces, colour, PRINT))
    return thinned(shapes)


def draw_scene(
    axis: Any, module: Any, task: Task, q: Array, shapes: Sequence[Shape],
    instants: Mapping[str, Array],
) -> None:  # fmt: skip
    """Draw the robot at coordinates (nq,) by name, among `shapes`, on a 3D axis.

    The picture encloses the motion q (K, nq), and parts of shapes nearer to it than it is long.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    turn = upright(np.asarray(module.gravity, dtype=float))[:3, :3]
    poses = _poses(module, task, np.array(list(instants.values())))
    low, high = _bounds(_origins(module, task, q) @ turn.T)
    size = np.linalg.norm(high - low)
    least, most = low - size, high + size
    triangles, colours = [], []
    for shape in shapes:
        places = poses[:1, -1] if shape.link < 0 else poses[:, shape.link]
        for pose in places:
            vertices = (shape.vertices @ pose[:3, :3].T + pose[:3, 3]) @ turn.T
            if np.all(vertices.min(axis=0) < most) and np.all(vertices.max(axis=0) > least):
                triangles.append(np.clip(vertices, least, most)[shape.faces])
                colours += [(*shape.colour, shape.opacity)] * len(shape.faces)
    axis.computed_zorder = False  # the robot is in front, as on the page
    corners = np.concatenate(triangles)
    axis.add_collection3d(Poly3DCollection(corners, facecolors=colours))
    for (name, pose), colour in zip(zip(instants, poses, strict=True), STICKS, strict=False):
        ends = pose[:, :3, 3] @ turn.T
        parents = [parent - 1 for parent in module.link_parents]  # the base comes last
        lines = np.stack([ends[parents], ends[:-1], np.full((len(parents), 3), np.nan)], axis=1)
        axis.plot(*lines.reshape(-1, 3).T, color=colour, label=name, linewidth=2, zorder=3)
    low, high = _bounds(np.concatenate([*corners, [low, high]]))
    named = [axis_name(row) for row in turn]
    for k, letter in enumerate("xyz"):
        getattr(axis, f"set_{letter}lim")(low[k], high[k])
        getattr(axis, f"set_{letter}label")(f"{named[k]} (m)" if named[k] else "")
    axis.set_box_aspect(high - low)
    axis.view_init(elev=20, azim=35)
    axis.set_title("red: obstacles; blue: spheres that keep clear of them", fontsize=8)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def _poses(module: Any, task: Task, q: Array) -> Array:
    """Return the poses of all links and, as the last one, of the base, (K, n_links + 1, 4, 4)."""
    poses = np.asarray(module.forward_kinematics(q, **options_of(task.parameters)))
    base = np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))
    return np.concatenate([poses, base], axis=1)


def _origins(module: Any, task: Task, q: Array) -> Array:
    """Return the origins of all frames along a motion, (k, 3)."""
    return _poses(module, task, q)[..., :3, 3].reshape(-1, 3)


def _bounds(points: Array) -> tuple[Array, Array]:
    """Return the least and largest coordinates of points (k, 3), (3,) each, not equal."""
    return points.min(axis=0) - 1e-3, points.max(axis=0) + 1e-3


def axis_name(axis: Array) -> str:
    """Return the name of a direction (3,) in the base frame, "" for one that is no axis."""
    k = int(np.argmax(np.abs(axis)))
    if abs(axis[k]) < 1 - 1e-9:
        return ""
    return f"{'-' if axis[k] < 0 else ''}{'xyz'[k]}"
