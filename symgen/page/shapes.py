"""Visual geometry of the links of a URDF as triangles, for pictures.

    shapes_of : URDF file -> one `Shape` for every visual

Boxes, cylinders and spheres are triangulated here; mesh files (STL, OBJ, DAE, PLY, glTF) are read
by trimesh, which is an extra.  Files are untrusted: a mesh file is opened for reading only, must be
a regular file with one of these endings and of limited size, and its references (textures,
materials) are ignored.  Large meshes are thinned: vertices in one cell of a grid become one.

Source: the URDF specification of ROS (wiki.ros.org/urdf/XML/link).
"""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.foreign.rotations import from_quaternion, from_rpy
from symgen.description.foreign.urdf import link_names_of_urdf
from symgen.description.foreign.xacro import XACRO, expanded
from symgen.description.foreign.xml import Element, read_xml
from symgen.description.names import BASE
from symgen.description.wording import shown
from symgen.errors import RequestError
from symgen.options import UNCHANGED, ReadOptions
from symgen.support.arrays import Array

Faces = NDArray[np.int64]
Colour = tuple[float, float, float]
"""Red, green, blue from 0 to 1."""

ENDINGS = (".stl", ".obj", ".dae", ".ply", ".glb")
MOST_BYTES = 64 * 1024 * 1024
"""Largest size of a mesh file, and of the URDF."""
MOST_READ = 4_000_000
"""Largest number of triangles in a file."""
MOST_TRIANGLES = 8000
"""Largest number of triangles of a robot in a page, which a browser draws 60 times a second."""
AROUND = 20
"""Number of corners of a cylinder, and of a sphere along its equator."""
CELLS = 8
"""Number of cells along an edge of a sheet."""
GREY = (0.62, 0.66, 0.72)
MOST_SHAPES = 3000
INSTALL = "pip install 'symgen[animate]'"


@dataclass(frozen=True)
class Shape:
    """Triangles of a link: `vertices` (n, 3) in m in its frame, `faces` (k, 3).

    `link` is the number of the link, -1 for the base; `colour` and `opacity` are in [0, 1].
    """

    link: int
    vertices: Array
    faces: Faces
    colour: Colour
    opacity: float = 1.0


@dataclass(frozen=True)
class _Urdf:
    """The file, and the folders of packages of its meshes."""

    path: Path
    reading: ReadOptions

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self.path.name

    def root(self) -> Element:
        """Return the root element; xacro is expanded."""
        content = _content(self.path, "the URDF")
        if self.path.suffix.lower() == XACRO:
            return expanded(str(self.path), self.reading)[0]
        return read_xml(content, self.name)


class _MissingMeshError(Exception):
    """The reference of a visual to a mesh that is not there; it ends in a warning."""


def shapes_of(
    urdf: str | Path, link_names: tuple[str, ...], reading: ReadOptions = UNCHANGED
) -> tuple[Shape, ...]:
    """Return the shapes of the links of a module, thinned to at most `MOST_TRIANGLES`.

    `reading` names packages and arguments of xacro.  Raises `RequestError` where the file or a mesh
    cannot be read, or no visible link is one of the module; `ModelError` where it is no URDF.  A
    RuntimeWarning says that links of the module are not in the file, or that meshes are missing,
    which are left out; without any shape that is left, there are none.
    """
    path = _Urdf(Path(urdf), reading)
    root = path.root()
    if root.tag != "robot":
        raise RequestError(f"{path.name} is no URDF: it begins with <{root.tag}>, not with <robot>")
    names = link_names_of_urdf(root, path.name)
    if any(name == BASE and link in link_names for link, name in names.items()):
        names = link_names_of_urdf(root, path.name, floating_base=True)
    missing = [name for name in link_names if name not in names.values()]
    if missing:
        warnings.warn(
            f"animate: {path.name} has no link {missing[0]!r} of this module"
            f"{f', nor {len(missing) - 1} more' * (len(missing) > 1)}; is it another robot's file?",
            RuntimeWarning,
            stacklevel=3,
        )
    number = {name: i for i, name in enumerate(link_names)} | {BASE: -1}
    palette = {
        material.attributes.get("name", ""): colour
        for material in root.all("material")
        if (colour := _colour(material)) is not None
    }
    shapes, absent = list[Shape](), list[_MissingMeshError]()
    for link in root.all("link"):
        name = link.attributes["name"]
        place = number.get(names[name])
        if place is None:
            continue
        for visual in link.all("visual"):
            try:
                shapes += _shapes(visual, place, path, palette)
            except _MissingMeshError as error:
                absent.append(error)
            if len(shapes) > MOST_SHAPES:
                raise RequestError(f"{path.name}: more than {MOST_SHAPES} shapes")
    shapes = [shape for shape in shapes if len(shape.faces)]
    if absent:
        more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        more += "" if shapes else "; no shape is left, the stick figure is drawn"
        warnings.warn(f"left out: {absent[0]}{more}", RuntimeWarning, stacklevel=3)
    elif not shapes:
        raise RequestError(
            f"{path.name} has no <visual> geometry of a link of this module; "
            f"its links are {', '.join(link_names[:8])}{', ...' if len(link_names) > 8 else ''}"
        )
    return thinned(shapes)


def _content(path: Path, what: str) -> bytes:
    """Return the content of a regular file of limited size."""
    try:
        if not path.is_file():
            raise RequestError(f"{what} {shown(str(path))} is no file")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise RequestError(
                f"{what} {shown(str(path))} has {size / 2**20:.0f} MB; "
                f"at most {MOST_BYTES >> 20} MB are read"
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot read {what} {shown(str(path))}: {error}") from error


def _shapes(
    visual: Element, link: int, urdf: _Urdf, palette: Mapping[str, Colour]
) -> Iterator[Shape]:
    where = f"{urdf.name}, line {visual.line}"
    geometry = visual.first("geometry")
    kind = geometry.children[0] if geometry is not None and geometry.children else None
    if kind is None:
        raise RequestError(f"{where}: <geometry> with a box, cylinder, sphere or mesh is missing")
    origin = visual.first("origin")
    turn, shift = np.eye(3), np.zeros(3)
    if origin is not None:
        turn = _attitude(origin, where)
        shift = np.array(_numbers(origin, "xyz", (0.0, 0.0, 0.0), where))
    material = visual.first("material")
    painted = None if material is None else _colour(material)
    if painted is None and material is not None:
        painted = palette.get(material.attributes.get("name", ""))
    for vertices, faces, colour in _geometry(kind, urdf, where):
        yield Shape(link, vertices @ turn.T + shift, faces, painted or colour)


def _attitude(origin: Element, where: str) -> Array:
    """Return the rotation matrix of an <origin>, of its `quat_xyzw` or its `rpy`."""
    if "quat_xyzw" not in origin.attributes:
        rpy = _numbers(origin, "rpy", (0.0, 0.0, 0.0), where)
        return np.array(from_rpy(rpy)).reshape(3, 3)
    x, y, z, w = _numbers(origin, "quat_xyzw", (0.0, 0.0, 0.0, 1.0), where)
    try:
        return from_quaternion((w, x, y, z))
    except ValueError:
        raise RequestError(f"{where}: quat_xyzw is zero, and has no direction") from None


def _geometry(kind: Element, urdf: _Urdf, where: str) -> Iterator[tuple[Array, Faces, Colour]]:
    """Yield triangles with their colour in the mesh file."""
    if kind.tag == "mesh":
        scale = np.array(_numbers(kind, "scale", (1.0, 1.0, 1.0), where))
        path = _mesh_file(kind.attributes.get("filename", ""), urdf, where)
        for vertices, faces, colour in _mesh(path, where):
            yield vertices * scale, faces, colour
    else:
        yield *_primitive(kind, where), GREY


def _primitive(kind: Element, where: str) -> tuple[Array, Faces]:
    if kind.tag == "box":
        return box(np.array(_numbers(kind, "size", (1.0, 1.0, 1.0), where)))
    if kind.tag in {"cylinder", "capsule"}:
        radius, length = (_numbers(kind, key, (1.0,), where)[0] for key in ("radius", "length"))
        return cylinder(radius, length)
    if kind.tag == "sphere":
        (radius,) = _numbers(kind, "radius", (1.0,), where)
        return sphere(radius)
    raise RequestError(f"{where}: <{kind.tag}> is no box, cylinder, sphere or mesh")


def _numbers(
    element: Element, key: str, otherwise: tuple[float, ...], where: str
) -> tuple[float, ...]:
    text = element.attributes.get(key)
    if text is None:
        return otherwise
    try:
        numbers = tuple(float(word) for word in text.split())
    except ValueError:
        numbers = ()
    if len(numbers) != len(otherwise) or not all(map(math.isfinite, numbers)):
        expected = f"expected {len(otherwise)} numbers, found {shown(text)}"
        raise RequestError(f"{where}: {key}: {expected}")
    return numbers


def _colour(material: Element) -> Colour | None:
    element = material.first("color")
    words = element.attributes.get("rgba", "").split() if element is not None else []
    try:
        red, green, blue = (min(1.0, max(0.0, float(word))) for word in words[:3])
    except ValueError:
        return None
    return red, green, blue


def box(size: Array) -> tuple[Array, Faces]:
    """Return vertices (8, 3) and faces (12, 3) of a box of edges `size` (3,) around 0, in m."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def cylinder(radius: float, length: float) -> tuple[Array, Faces]:
    """Return vertices (n, 3) and faces (k, 3) of a cylinder about z, centred at 0, in m."""
    return _turned_profile([(radius, -length / 2), (radius, length / 2)])


def sphere(radius: float) -> tuple[Array, Faces]:
    """Return vertices (n, 3) and faces (k, 3) of a sphere around 0, in m."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, AROUND // 2 + 1)[1:-1]
    rings = [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
    return _turned_profile(rings, (-radius, radius))


def sheet(side: float) -> tuple[Array, Faces]:
    """Return vertices (n, 3) and faces (k, 3) of a square about z through 0, in m."""
    lines = np.linspace(-side / 2, side / 2, CELLS + 1)
    vertices = np.array([[x, y, 0.0] for x in lines for y in lines])
    corner = (np.arange(CELLS)[:, None] * (CELLS + 1) + np.arange(CELLS)).ravel()
    across, along = corner + CELLS + 1, corner + 1
    return vertices, np.vstack([
        np.column_stack([corner, across, along]), np.column_stack([along, across, across + 1]),
    ])  # fmt: skip


def _turned_profile(
    rings: list[tuple[float, float]], poles: tuple[float, float] | None = None
) -> tuple[Array, Faces]:
    """Return triangles of rings (radius, z) about z, closed by a pole at either end."""
    angles = np.arange(AROUND) * 2 * math.pi / AROUND
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(AROUND)])
    low, high = poles or (rings[0][1], rings[-1][1])
    vertices = np.vstack([
        *(circle * [radius, radius, 0.0] + [0.0, 0.0, z] for radius, z in rings),
        [[0.0, 0.0, low], [0.0, 0.0, high]],
    ])  # fmt: skip
    a = np.arange(AROUND)
    b = (a + 1) % AROUND
    quads = np.vstack(
        [np.column_stack([a, b, AROUND + b]), np.column_stack([a, AROUND + b, AROUND + a])]
    )
    faces = [quads + ring * AROUND for ring in range(len(rings) - 1)]
    top = (len(rings) - 1) * AROUND
    south = np.full(AROUND, top + AROUND)
    faces += [np.column_stack([b, a, south]), np.column_stack([top + a, top + b, south + 1])]
    return vertices, np.vstack(faces)


def _mesh_file(name: str, urdf: _Urdf, where: str) -> Path:
    """Return the path of ``package://arm_description/meshes/link.stl``, a path, or a file: URL."""
    scheme, separator, rest = name.partition("://")
    if not separator:
        scheme, rest = "", name
    if scheme not in {"", "file", "package", "model"}:
        raise RequestError(f"{where}: {shown(name)}: only files of this machine are read")
    path = Path(rest)
    if path.suffix.lower() not in ENDINGS:
        raise RequestError(f"{where}: {shown(name)}: expected a mesh ({', '.join(ENDINGS)})")
    beside = urdf.path.resolve().parent
    if scheme in {"", "file"}:
        if not os.path.exists(beside / path):
            raise _MissingMeshError(f"{where}: the mesh {shown(str(beside / path))} is no file")
        return beside / path
    for candidate in _in_packages(path, beside, dict(urdf.reading.packages)):
        if os.path.isfile(candidate):
            return candidate
    raise _MissingMeshError(
        f"{where}: {shown(name)} was not found beside the URDF, in the folders above it, or in "
        "those of ROS_PACKAGE_PATH; packages={NAME: FOLDER} names the folder of a package"
    )


def _in_packages(path: Path, beside: Path, folders: Mapping[str, str]) -> Iterator[Path]:
    """Yield candidate paths of a file; `path` starts with the name of its package."""
    package, *inside = path.parts
    if package in folders:
        yield Path(folders[package], *inside)
    for folder in (beside, *beside.parents):
        if folder.name == package:
            yield folder.joinpath(*inside)
        yield folder / path
    for folder in map(Path, filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep))):
        yield folder / path
        if folder.name == package:
            yield folder.joinpath(*inside)


def _mesh(path: Path, where: str) -> list[tuple[Array, Faces, Colour]]:
    """Return the parts of a mesh file, in m where the file has a unit, each in one colour."""
    try:
        import trimesh
    except ImportError as error:
        raise RequestError(
            f"{where}: mesh files are read by trimesh, which is not installed: {INSTALL}"
        ) from error
    content = _content(path, f"{where}: the mesh")
    ending = path.suffix.lower().removeprefix(".")
    try:
        scene: Any = trimesh.load_scene(io.BytesIO(content), file_type=ending, process=False)
        unit = _metres(scene.units)
        parts = [_part(scene, node, unit) for node in scene.graph.nodes_geometry]
    except ImportError as error:
        raise RequestError(f"{where}: {shown(path.name)}: {error}: {INSTALL}") from error
    except Exception as error:  # readers of untrusted files raise any
        raise RequestError(
            f"{where}: {shown(path.name)} is no readable mesh: {type(error).__name__}"
        ) from error
    count = sum(len(faces) for _, faces, _ in parts)
    if not 0 < count <= MOST_READ:
        message = f"{shown(path.name)} has {count:,} triangles; expected 1 to {MOST_READ:,}"
        raise RequestError(f"{where}: {message}")
    if not all(np.isfinite(vertices).all() for vertices, _, _ in parts):
        raise RequestError(f"{where}: {shown(path.name)}: a vertex is not finite")
    return parts


def _part(scene: Any, node: Any, unit: float) -> tuple[Array, Faces, Colour]:
    pose, name = scene.graph[node]
    mesh = scene.geometry[name]
    vertices = np.asarray(mesh.vertices, dtype=float) @ pose[:3, :3].T + pose[:3, 3]
    colour = getattr(getattr(mesh.visual, "material", None), "main_color", None)
    red, green, blue = GREY if colour is None else (float(x) / 255 for x in colour[:3])
    return unit * vertices, np.asarray(mesh.faces, dtype=int).reshape(-1, 3), (red, green, blue)


def _metres(unit: str | None) -> float:
    """Return a file's unit of length in m: DAE files say it, others do not."""
    words = (unit or "").split(" * ")
    try:
        return float(words[0]) if len(words) == 2 and words[1] == "meters" else 1.0
    except ValueError:
        return 1.0


def thinned(shapes: list[Shape]) -> tuple[Shape, ...]:
    """Return at most `MOST_TRIANGLES` together, by cells of one size for the whole robot."""
    sizes = (float(np.ptp(shape.vertices, axis=0).max()) for shape in shapes)
    size = max(sizes, default=0.0) / 400
    while size and sum(len(shape.faces) for shape in shapes) > MOST_TRIANGLES:
        shapes = [shape for each in shapes if len((shape := _coarser(each, size)).faces)]
        size *= 1.25
    return tuple(shapes)


def _coarser(shape: Shape, size: float) -> Shape:
    """Return the shape with all vertices of one cell of a grid replaced by their mean."""
    cells = np.floor(shape.vertices / size).astype(int)
    _, group = np.unique(cells, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)[:, None]
    means = np.column_stack([np.bincount(group, column) for column in shape.vertices.T]) / count
    faces = group[shape.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (a != c)]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return replace(shape, vertices=means, faces=faces[np.sort(first)])
