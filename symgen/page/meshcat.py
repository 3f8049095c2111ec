"""A motion for the viewer of Meshcat: one HTML file with that viewer, the shapes and the poses.

Meshcat is installed by whoever wants it (``pip install meshcat``).  Its commands are written into
the page, as its own server does for a static page; no server is started, nothing is asked of the
network.  Without shapes links are lines between their frames.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.page.shapes import Shape, cylinder

Array = NDArray[np.float64]

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}: motion</title>
<style>body {{ margin: 0; }} #pane {{ width: 100vw; height: 100vh; overflow: hidden; }}</style>
</head>
<body>
<div id="pane"></div>
<script>{viewer}</script>
<script>
const viewer = new MeshCat.Viewer(document.getElementById("pane"));
for (const command of [{commands}]) {{
  viewer.handle_command_bytearray(Uint8Array.from(atob(command), (c) => c.charCodeAt(0)));
}}
</script>
<script id="embedded-json"></script>
</body>
</html>
"""


def meshcat_page(
    module: Any, times: Array, poses: Array, shapes: Sequence[Shape], title: str
) -> str:
    """The page; `poses` (frames, links, 4, 4) belong to `times` (s), evenly spaced."""
    try:
        import meshcat
        import umsgpack
        from meshcat import animation, commands, geometry
        from meshcat.path import Path as Node
    except ImportError as error:
        raise RequestError(
            'viewer="meshcat" needs Meshcat, which is not installed: pip install meshcat; '
            'the viewer "symgen" needs nothing'
        ) from error
    root = Node(("meshcat", "robot"))
    upright = _upright(np.asarray(module.gravity, dtype=float))
    made: list[Any] = [commands.SetTransform(upright, root)]
    rate = (len(times) - 1) / (times[-1] - times[0])
    clips = animation.Animation(default_framerate=rate)
    for k, shape in enumerate(shapes or _bones(module, poses)):
        red, green, blue = (round(255 * x) for x in shape.colour)
        material = geometry.MeshPhongMaterial(color=red << 16 | green << 8 | blue)
        mesh = geometry.TriangularMeshGeometry(shape.vertices, shape.faces)
        place = root.append(f"link{shape.link}").append(f"shape{k}")
        made.append(commands.SetObject(mesh, material, place))
    for i, name in enumerate(module.link_names):
        place = root.append(f"link{i}")
        made.append(commands.SetTransform(poses[0, i], place))
        clip = animation.AnimationClip(fps=rate, name=name)
        for frame, pose in enumerate(poses[:, i]):
            clip.set_property(frame, "position", "vector3", animation.js_position(pose))
            clip.set_property(frame, "quaternion", "quaternion", animation.js_quaternion(pose))
        clips.clips[place] = clip
    made.append(commands.SetAnimation(clips, repetitions=1000))
    script = Path(meshcat.__file__).parent / "viewer" / "dist" / "main.min.js"
    packed = (base64.b64encode(umsgpack.packb(x.lower())).decode("ascii") for x in made)
    return PAGE.format(
        title=html.escape(title),
        viewer=script.read_text(encoding="utf-8"),
        commands=", ".join(f'"{text}"' for text in packed),
    )


def _upright(gravity: Array) -> Array:
    """The pose of the base in Meshcat's room, where z points up: gravity points down."""
    size = np.linalg.norm(gravity)
    pose = np.eye(4)
    if size:
        up = -gravity / size
        side = np.eye(3)[(int(np.argmax(np.abs(up))) + 2) % 3]
        side = side - side @ up * up
        side /= np.linalg.norm(side)
        pose[:3, :3] = [np.cross(side, up), side, up]
    return pose


def _bones(module: Any, poses: Array) -> list[Shape]:
    """A rod from the frame of each link to that of the link that it carries."""
    found = []
    reach = float(np.ptp(poses[0, :, :3, 3], axis=0).max()) or 1.0
    for i, parent in enumerate(module.link_parents):
        before = poses[0, parent - 1] if parent else np.eye(4)
        along = (np.linalg.inv(before) @ poses[0, i])[:3, 3]
        length = float(np.linalg.norm(along))
        if length < 1e-9 * reach:
            continue
        vertices, faces = cylinder(0.02 * reach, length)
        vertices = vertices + np.array([0.0, 0.0, length / 2])
        axis = along / length
        side = np.eye(3)[int(np.argmin(np.abs(axis)))]
        side = np.cross(axis, side) / np.linalg.norm(np.cross(axis, side))
        turn = np.column_stack([side, np.cross(axis, side), axis])
        found.append(Shape(parent - 1, vertices @ turn.T, faces, (0.62, 0.66, 0.72)))
    return found
