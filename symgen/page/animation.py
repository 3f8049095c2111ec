"""`symgen.animate`: an HTML file that plays a motion.

    animate : generated module, motion -> HTML file

The robot is drawn as in the report, from the figure that the module stores
(`symgen.description.figure`): links, centres of mass, points, loops, springs, floor, gravity; with
a URDF, its visual geometry; of a plan, its obstacles.  The page has the poses of all links at
evenly spaced instants (float32, deflated) and draws curves of the coordinates and, where the motion
has them, of the torques; it loads nothing.  It needs the generated module and NumPy, not the model
file.  The viewer of Meshcat is an alternative where that is installed (``pip install meshcat``):
its commands are written into the page, as for its static pages, without a server.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symgen.description.figure import value_of
from symgen.emit.templates import Templates
from symgen.errors import RequestError
from symgen.options import ReadOptions
from symgen.page.packing import as_script, packed
from symgen.page.shapes import GREY, Shape, cylinder, shapes_of
from symgen.runtime.configuration import FREE, configuration_of
from symgen.support.arrays import Array, Index
from symgen.toolchain.files import check_writable, replace_file
from symgen.toolchain.loading import checked_module

Parameters = Mapping[str, float] | ArrayLike | None

FRAMES_PER_SECOND = 60
MOST_FRAMES = 1200
MOST_SAMPLES = 300
"""Samples of the curves next to the figure."""
MOST_CURVES = 9
"""Number of curves in a picture, the largest ones."""

NEAR = 2.0
"""Largest limit that is drawn, in units of the largest value."""
COLOURS = (
    "#1f5fae", "#b3410c", "#176b34", "#8a1f7a", "#6b5a00", "#b0202a", "#0b6b70", "#4a5560",
    "#6d4c41",
)  # fmt: skip
"""Colours of curves on white, as in ``style.css``."""
DARK = (0.25, 0.26, 0.28)
"""Colour of wheels."""

SCRIPTS = ("model", "figure", "solids", "motion", "animation")
MESHCAT_PAGE = """<!doctype html>
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
VIEWERS = ("symgen", "meshcat")
SUFFIXES = (".html", ".htm")


WORDS = {
    "rad": ("Angles (rad)", "Torques (N m)"), "m": ("Displacements (m)", "Forces (N)"),
    "": ("Quaternions", "Torques (N m)"), "1": ("Unit vectors", "Torques (N m)"),
}  # fmt: skip
"""Titles of coordinates, and of torques, by the unit of the coordinates."""


@dataclass(frozen=True)
class Curves:
    """Curves over the times of a motion: `values` (T, m), a name for each.

    `levels` are dashed lines, `limits` (m, 2) those of the curves.
    """

    title: str
    names: Sequence[str]
    values: Array
    levels: Sequence[float] = ()
    limits: Array | None = None

    @property
    def main(self) -> Curves:
        """The curves that change most, in their order, if there are more than `MOST_CURVES`."""
        if len(self.names) <= MOST_CURVES:
            return self
        chosen = largest(np.ptp(self.values, axis=0))
        title = f"{self.title}, the {MOST_CURVES} of {len(self.names)} that change most,"
        names = [self.names[k] for k in chosen]
        limits = None if self.limits is None else self.limits[chosen]
        values = self.values[:, chosen]
        return replace(self, title=title, names=names, values=values, limits=limits)

    @property
    def lines(self) -> dict[float, int | None]:
        """The number of the curve that has each limit, None for shared ones, and for levels.

        Limits that no curve comes near are left out: they would make the curves flat.
        """
        lines: dict[float, int | None] = dict.fromkeys(self.levels)
        most = NEAR * float(np.abs(self.values).max(initial=0.0))
        for k, limits in enumerate(() if self.limits is None else self.limits):
            for limit in {float(x) for x in limits if abs(x) <= most}:
                lines[limit] = None if limit in lines else k
        return lines


@dataclass(frozen=True)
class Forces:
    """Forces along a motion that are drawn as arrows, and a point that moves.

    `loads` are those of the module, base axes, (T, n_loads, 6) (N, N m); `centre` is the
    zero-moment point, (T, 3) (m), NaN where there is none.
    """

    loads: Array
    centre: Array


def colours_of(names: Sequence[str], module: Any) -> Sequence[int]:
    """Return numbers of colours: those of coordinates in the module, if few, else in `names`."""
    numbers = {name: k for k, name in enumerate(module.coordinate_names)}
    few = len(numbers) <= MOST_CURVES and all(name in numbers for name in names)
    return [numbers[name] if few else k % MOST_CURVES for k, name in enumerate(names)]


def largest(sizes: Array) -> Index:
    """Return the numbers of the `MOST_CURVES` largest sizes (m,), in their order."""
    return np.sort(np.argsort(-sizes, kind="stable")[:MOST_CURVES])


def animate(
    module: Any,
    run: Any,
    path: str | Path = "motion.html",
    *,
    title: str = "",
    parameters: Parameters = None,
    urdf: str | Path | None = None,
    packages: Mapping[str, str | Path] | None = None,
    arguments: Mapping[str, object] | None = None,
    viewer: str = "symgen",
) -> Path:
    """Write the motion `run` of a generated module to the HTML file `path`, and return its path.

    `run` is a result of `symgen.simulate` or `symgen.plan`, or a pair ``(t, q)`` of arrays,
    ``(samples,)`` in s, increasing, and ``(samples, nq)``.  `parameters` are the runtime parameters
    of the motion (default: those of the file).  `urdf` is the source of the robot, whose visual
    geometry is drawn, with its mesh files (extra ``animate``); `packages` are folders by name for
    ``package://``, `arguments` those of a xacro file.  `viewer` is ``"symgen"``, a figure with
    curves, or ``"meshcat"``, the WebGL viewer of that package, in a self-contained file.

    Raises `symgen.errors.RequestError` where `run` is no motion of this robot, a mesh cannot be
    read, Meshcat is missing, or the file cannot be written; `symgen.errors.ModelError` where `urdf`
    is no URDF.
    """
    checked_module(module, "animate")
    target = Path(path)
    if viewer not in VIEWERS:
        raise RequestError(f"animate: viewer: expected {' or '.join(VIEWERS)}, found {viewer!r}")
    if target.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{str(target)!r} is no name for a page; expected one such as m.html")
    t, q, tau = motion_of(run, module)
    check_writable(target)
    reading = ReadOptions.of(packages=packages, arguments=arguments)
    shapes = () if urdf is None else shapes_of(urdf, tuple(module.link_names), reading)
    shapes = (*shapes, *getattr(run, "solids", ()))
    title = title or module.name
    if viewer == "meshcat":
        drawn = shapes, _figure(module, parameters)
        page = _meshcat_page(module, *_poses(module, t, q, parameters)[1:], *drawn, title)
    else:
        forces = getattr(run, "ground_forces", None)
        page = animation(module, t, q, tau, title, parameters, shapes, forces)
    return replace_file(target, page.encode())


def motion_of(run: Any, module: Any) -> tuple[Array, Array, Array | None]:
    """Return times (T,), coordinates (T, nq) and, where available, torques (T, n) of a motion."""
    if isinstance(run, tuple) and len(run) == 2:
        arrays = (*run, None)
    elif hasattr(run, "data_vars"):
        arrays = (run["time"].values, run["q"].values, run["tau"].values if "tau" in run else None)
    elif hasattr(run, "q") and hasattr(run, "t"):
        arrays = (run.t, run.q, getattr(run, "tau", None))
    else:
        raise RequestError(
            "animate: expected a result of simulate() or plan(), or a pair (t, q), of a saved plan "
            f'(d["t"], d["q"]) with d = numpy.load("plan.npz"); found {type(run).__name__}'
        )
    t, q, tau = (None if x is None else np.asarray(x, dtype=float) for x in arrays)
    if t is None or q is None or t.ndim != 1 or q.shape != (len(t), module.nq) or len(t) < 2:
        raise RequestError(
            f"animate: expected t (samples,) with at least 2 samples and q (samples, {module.nq}), "
            f"found {np.shape(arrays[0])} and {np.shape(arrays[1])}"
        )
    if not (np.all(np.diff(t) > 0) and np.all(np.isfinite(t)) and np.all(np.isfinite(q))):
        raise RequestError("animate: times must increase, and all numbers must be finite")
    return t, q, tau if tau is not None and tau.shape == (len(t), module.n) else None


def animation(
    module: Any, t: Array, q: Array, tau: Array | None, title: str, parameters: Parameters = None,
    shapes: Sequence[Shape] = (), forces: Forces | None = None,
) -> str:  # fmt: skip
    """Return the page of a motion with times t (T,), q (T, nq), tau (T, n)."""
    layout = Templates()
    return layout.render(
        "report/animation.html",
        title=title,
        robot=module.name,
        duration=float(t[-1] - t[0]),
        style=layout.source("report/style.css"),
        scripts=[layout.source(f"report/{name}.js") for name in SCRIPTS],
        data=player_facts(module, t, q, tau, parameters, shapes, forces=forces),
    )


def player_facts(
    module: Any, t: Array, q: Array, tau: Array | None = None, parameters: Parameters = None,
    shapes: Sequence[Shape] = (), curves: Sequence[Curves] = (), forces: Forces | None = None,
    limits: Sequence[Array | None] = (None, None),
) -> dict[str, str]:  # fmt: skip
    """Return the ``script`` elements that `animation.js` plays, by id, for t (T,), q (T, nq).

    `limits` are those of q (nq, 2), and of tau (n, 2).
    """
    _, times, poses = _poses(module, t, q, parameters)
    shown = np.unique(np.linspace(0, len(t) - 1, min(len(t), MOST_SAMPLES)).astype(int))
    figure = _figure(module, parameters)
    listed = []
    for of_velocities, values in ((False, q), *(() if tau is None else ((True, tau),))):
        names = module.coordinate_names if of_velocities else module.position_names
        for unit, numbers in by_unit(module, of_velocities).items():
            chosen = [k for k in numbers if not of_velocities or values[:, k].any()]
            if chosen:
                title, bounds = WORDS[unit][of_velocities], limits[of_velocities]
                bounds = None if bounds is None else bounds[chosen]
                called = [names[k] for k in chosen]
                listed.append(Curves(title, called, values[:, chosen], limits=bounds))
    at_times = np.zeros(0)  # loads and the centre, (frames, 6 n_loads + 3), linear in between
    if forces is not None:
        rows = np.column_stack([forces.loads.reshape(len(t), -1), forces.centre])
        at_times = np.column_stack([np.interp(times, t, column) for column in rows.T])
    return {
        "player": as_script({
            "start": float(times[0]),
            "duration": float(times[-1] - times[0]),
            "frames": len(times),
            "figure": figure,
            "times": _rounded(t[shown]),
            "curves": [
                {
                    "title": each.title, "names": list(each.names),
                    "colours": colours_of(each.names, module),
                    "values": _rounded(each.values[shown]), "levels": list(each.lines.items()),
                }
                for each in (one.main for one in (*listed, *curves))
            ],
            "shapes": [
                {
                    "link": shape.link, "colour": [round(255 * x) for x in shape.colour],
                    "opacity": shape.opacity,
                    "vertices": len(shape.vertices), "triangles": len(shape.faces),
                }
                for shape in shapes
            ],
        }),
        "poses": _packed(poses[:, :, :3, :]),
        "vertices": _packed(_joined([shape.vertices for shape in shapes])),
        "faces": _packed(_joined([shape.faces for shape in shapes])),
        "forces": _packed(at_times),
    }  # fmt: skip


def by_unit(module: Any, of_velocities: bool) -> dict[str, Index]:
    """Return the numbers of entries of q, or of velocities, by their unit, a key of `WORDS`."""
    each, space = np.array(_figure(module, None)["units"], dtype=object), configuration_of(module)
    if not of_velocities:
        rates, each = each, np.full(space.nq, "", dtype=object)
        each[space.positions] = rates[space.velocities]
        for kind, i, _ in space.joints:
            each[i : i + 3 * (kind == FREE)] = "m"
    return {unit: np.flatnonzero(each == unit) for unit in dict.fromkeys(each)}


def _figure(module: Any, parameters: Parameters) -> dict[str, Any]:
    """Return the figure that the module stores, at the parameters of the motion."""
    figure: dict[str, Any] = json.loads(getattr(module, "_figure", "{}"))
    if "units" not in figure:
        raise RequestError(
            f"animate: {module.name} was built by symgen {module.symgen_version}, without its "
            "figure; build it again"
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        parameters = dict(zip(module.parameter_names, np.ravel(parameters), strict=True))
    figure["fixed"] |= {name: float(value) for name, value in (parameters or {}).items()}
    return figure


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([np.zeros((0, 3)), *arrays])


def _poses(module: Any, t: Array, q: Array, parameters: Parameters) -> tuple[Array, Array, Array]:
    """Return coordinates at evenly spaced instants, the instants, and the poses of all links."""
    count = int(min(MOST_FRAMES, max(2, np.ceil((t[-1] - t[0]) * FRAMES_PER_SECOND) + 1)))
    times = np.linspace(t[0], t[-1], count)
    before = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    share = (times - t[before]) / (t[before + 1] - t[before])
    step = module.difference(q[before], q[before + 1])
    at = module.integrate(q[before], share[:, np.newaxis] * step)
    options = {} if parameters is None else {"parameters": parameters}
    return at, times, np.asarray(module.forward_kinematics(at, **options))


def _rounded(values: Array) -> Any:
    return [[float(f"{x:.6g}") for x in np.atleast_1d(row)] for row in values]


def _packed(values: Array) -> str:
    """Return values as little-endian float32, row by row, packed."""
    return packed(np.ascontiguousarray(values, dtype="<f4").tobytes())


def _meshcat_page(
    module: Any, times: Array, poses: Array, shapes: Sequence[Shape], figure: Any, title: str
) -> str:
    """Return the page; `poses` (frames, links, 4, 4) belong to `times` (s), evenly spaced."""
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
    listed: list[Any] = [commands.SetTransform(upright(np.asarray(module.gravity)), root)]
    rate = (len(times) - 1) / (times[-1] - times[0])
    clips = animation.Animation(default_framerate=rate)
    for k, shape in enumerate(shapes or [*_bones(module, poses), *wheels(figure)]):
        red, green, blue = (round(255 * x) for x in shape.colour)
        colour = red << 16 | green << 8 | blue
        material = geometry.MeshPhongMaterial(
            color=colour, opacity=shape.opacity, transparent=shape.opacity < 1
        )
        mesh = geometry.TriangularMeshGeometry(shape.vertices, shape.faces)
        place = root.append(f"link{shape.link}").append(f"shape{k}")
        listed.append(commands.SetObject(mesh, material, place))
    for i, name in enumerate(module.link_names):
        place = root.append(f"link{i}")
        listed.append(commands.SetTransform(poses[0, i], place))
        clip = animation.AnimationClip(fps=rate, name=name)
        for frame, pose in enumerate(poses[:, i]):
            clip.set_property(frame, "position", "vector3", animation.js_position(pose))
            clip.set_property(frame, "quaternion", "quaternion", animation.js_quaternion(pose))
        clips.clips[place] = clip
    listed.append(commands.SetAnimation(clips, repetitions=1000))
    script = Path(meshcat.__file__).parent / "viewer" / "dist" / "main.min.js"
    encoded = (base64.b64encode(umsgpack.packb(x.lower())).decode("ascii") for x in listed)
    return MESHCAT_PAGE.format(
        title=html.escape(title),
        viewer=script.read_text(encoding="utf-8"),
        commands=", ".join(f'"{text}"' for text in encoded),
    )


def upright(gravity: Array) -> Array:
    """Return the pose (4, 4) of the base in axes where z points up, against gravity (3,)."""
    size = float(np.linalg.norm(gravity))
    pose = np.eye(4)
    if size:
        up = -gravity / size
        side = np.eye(3)[(int(np.argmax(np.abs(up))) + 2) % 3]
        side = side - side @ up * up
        side /= np.linalg.norm(side)
        pose[:3, :3] = [np.cross(side, up), side, up]
    return pose


def _bones(module: Any, poses: Array) -> list[Shape]:
    """Return a rod from the frame of the parent to that of each link."""
    rods = []
    reach = float(np.ptp(poses[0, :, :3, 3], axis=0).max()) or 1.0
    for i, parent in enumerate(module.link_parents):
        before = poses[0, parent - 1] if parent else np.eye(4)
        along = (np.linalg.inv(before) @ poses[0, i])[:3, 3]
        length = float(np.linalg.norm(along))
        if length < 1e-9 * reach:
            continue
        vertices, faces = cylinder(0.02 * reach, length)
        vertices = vertices + np.array([0.0, 0.0, length / 2])
        rods.append(Shape(parent - 1, vertices @ _turned_to(along).T, faces, GREY))
    return rods


def wheels(figure: Mapping[str, Any]) -> list[Shape]:
    """Return a cylinder for each wheel of a figure, at its `fixed` parameters."""
    values, shapes = dict(figure["fixed"]), []
    for name, expression in figure["derived"]:
        values[name] = value_of(expression, values)
    for wheel in figure.get("wheels", ()):
        at, axis = (np.array([value_of(x, values) for x in wheel[key]]) for key in ("at", "axis"))
        radius, width = (value_of(wheel[key], values) for key in ("radius", "width"))
        vertices, faces = cylinder(radius, width)
        shapes.append(Shape(wheel["link"], vertices @ _turned_to(axis).T + at, faces, DARK))
    return shapes


def _turned_to(direction: Array) -> Array:
    """Return a rotation matrix whose z-axis has a direction (3,)."""
    axis = direction / np.linalg.norm(direction)
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    return np.column_stack([side, np.cross(axis, side), axis])
