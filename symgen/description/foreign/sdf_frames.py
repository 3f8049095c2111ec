"""The files, scopes and frames of an SDF model: includes, names, and poses between frames.

    Frames.read    the file -> the links, joints and frames of its first model, by their full names
    find           a name in a model -> its full name
    relative       two frames -> the pose of one in the other, in the file's configuration
    link_of        a frame -> the link that it is fixed to

Full names are names in the scope of the world: ``arm::gripper::finger``.  The frame of a model has
the model's name, the frame of the world is called ``world``.

Included files are searched in the folder of the first file, and in packages (`packages`); nothing
else is opened, and nothing is fetched.  In a folder, the file named in `model.config` is read, or
`model.sdf`.  Limits: 100 files, 16 levels of inclusion, 100,000 elements in total.

Source: the SDFormat specification and its proposal on the semantics of poses (sdformat.org).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from symgen.description.foreign.packages import find, own_package, searched
from symgen.description.foreign.rotations import HERE, Matrix, Pose, from_quaternion, from_rpy
from symgen.description.foreign.xml import (
    MAX_ELEMENTS,
    MOST_JOINTS,
    Element,
    Faults,
    line_of,
    read_xml,
    stop,
    values,
)
from symgen.description.reading import load, written
from symgen.description.wording import in_line, shown
from symgen.options import ReadOptions

WORLD = "world"
MODEL = "__model__"
WITH_FRAMES = (1, 7)
"""The first version in which poses and axes name frames, and in which siblings differ in name."""

_RESERVED = "__"
_NEAR = 8
"""Maximum number of frames on the path to a common one; longer paths use poses in the world."""
_ROUNDING = 4e-16


@dataclass(frozen=True)
class Scope:
    """The name space of a model or of the world; `frame` is the full name of its frame."""

    element: Element
    prefix: str
    frame: str
    source: SdfFile

    @property
    def names_frames(self) -> bool:
        """Whether its version has `relative_to` and `expressed_in`."""
        return self.source.version >= WITH_FRAMES


@dataclass(frozen=True)
class Frame:
    """A link, joint, frame or model: its pose in the frame with the full name `origin`.

    `fixed_to` is the full name of the frame that it moves with; "" for a link.
    """

    kind: str
    element: Element
    scope: Scope
    pose: Pose
    origin: str
    fixed_to: str


@dataclass
class Frames:
    """All frames of the first model, by full name, in the order of the file."""

    files: Files
    frames: dict[str, Frame] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    world: Element | None = None
    model: str = ""
    other_models: list[str] = field(default_factory=list)
    includes: dict[str, Element] = field(default_factory=dict)
    """The <include> of a model, by its full name."""
    _first: dict[tuple[str, str], str] = field(default_factory=dict)
    _placed: list[tuple[str, str, Element]] = field(default_factory=list)
    _names: dict[tuple[str, bool, int], list[str]] = field(default_factory=dict)
    _in_world: dict[str, Pose] = field(default_factory=lambda: {WORLD: HERE})

    def read(self, root: Element) -> None:
        """Read the models of a file; `ModelError` if there is none.

        The robot is the first model with a joint, or else the first: worlds begin with the ground
        and the sun.
        """
        source = self.files.first(root)
        world = root.first("world")
        top = root if world is None else world
        self.world = world
        models = [x for x in top.children if x.tag in ("model", "include")]
        if not models:
            raise stop(self.files.names[0], line_of(root), "there is no <model> in this file")
        scope = Scope(top, "", WORLD, source)
        self.scopes[WORLD] = scope
        taken = models[:1] if world is None else models
        self._take_all([(element, scope) for element in taken])
        tops = [name for name, frame in self.frames.items() if frame.scope is scope]
        for frame in top.all("frame"):
            self._take(frame, scope)
        self.files.faults.raise_if_any()
        if not tops:
            raise stop(self.files.names[0], line_of(top), "none of its models can be read")
        moving = (name for name, frame in self.frames.items() if frame.kind == "joint")
        outermost = {name.partition("::")[0] for name in moving}
        self.model = next((name for name in tops if name in outermost), tops[0])
        self.other_models = [name for name in tops if name != self.model]
        self.other_models += [x.attributes.get("name", x.tag) for x in models[len(taken) :]]
        self._check()

    def _take_all(self, waiting: list[tuple[Element, Scope]]) -> None:
        waiting = waiting[::-1]
        while waiting:
            element, outer = waiting.pop()
            inner = self._opened(element, outer)
            if inner is None:
                continue
            self.scopes[inner.frame] = inner
            if len(self.scopes) > MOST_JOINTS:
                message = f"more than {MOST_JOINTS} models; no robot is that large"
                raise stop(self.files.names[0], 0, message)
            for child in inner.element.children:
                if child.tag in ("link", "joint", "frame"):
                    self._take(child, inner)
            models = [x for x in inner.element.children if x.tag in ("model", "include")]
            waiting += [(x, inner) for x in reversed(models)]

    def _opened(self, element: Element, outer: Scope) -> Scope | None:
        """Return the scope of a <model>, or of the first model of an included file."""
        source, model, placing = outer.source, element, element
        if element.tag == "include":
            faults = self.files.faults
            is_needed = outer.frame != WORLD or self.world is None
            tell = faults.add if is_needed else faults.warn
            inclusion = self.files.included(element, outer.source, tell)
            if inclusion is None:
                return None
            inner = inclusion.root.first("model")
            if inner is None:
                message = f"there is no <model> in {shown(self.files.names[inclusion.number])}"
                self.files.faults.add(element, "include", message)
                return None
            source, model = inclusion, inner
            placing = element if element.first("pose") is not None else inner
        naming = element.first("name") if element.tag == "include" else None
        name = model.attributes.get("name", "").strip() if naming is None else naming.text
        faults = self.files.faults
        if not name:
            faults.text(model, "name", "model")
            return None
        merged = element.attributes.get("merge", "false").strip() in ("true", "1")
        if merged and outer.frame == WORLD:
            faults.add(element, "include", "merge belongs into a model; remove it here")
        full = f"{outer.prefix}{'_merged__' * merged}{name}{MODEL * merged}"
        prefix = outer.prefix if merged else f"{full}::"
        pose, origin = self._pose(placing, outer if placing is element else None, outer)
        frame = Frame("model", model, outer, pose, origin, "")
        self._add(full, frame, element, merged)
        if element.tag == "include":
            self.includes[full] = element
        child = element.first("placement_frame") if element.tag == "include" else None
        placement = model.attributes.get("placement_frame", "") if child is None else child.text
        if placement != MODEL and placement.strip():
            self._placed.append((full, prefix + placement.strip(), element))
        return Scope(model, prefix, full, source)

    def _take(self, element: Element, scope: Scope) -> None:
        """Read a link, joint or frame of a model."""
        name = self.files.faults.text(element, "name", element.tag)
        if not name:
            return
        pose, origin = self._pose(element, scope, scope)
        if element.tag == "joint":
            child = element.first("child")
            fixed = "" if child is None else child.text
            fixed_to = self._full(scope, fixed)
            origin = origin if self._names_origin(element) else fixed_to
        elif element.tag == "frame":
            fixed_to = self._full(scope, element.attributes.get("attached_to", "").strip() or MODEL)
            origin = origin if self._names_origin(element) else fixed_to
        else:
            fixed_to = ""
        self._add(scope.prefix + name, Frame(element.tag, element, scope, pose, origin, fixed_to))

    def _add(self, full: str, frame: Frame, at: Element | None = None, made: bool = False) -> None:
        """Add a frame, with a name that is unique among its siblings."""
        faults, element = self.files.faults, at or frame.element
        key = f"{frame.kind}.{full.rpartition('::')[2]}"
        name = full.removeprefix(frame.scope.prefix)
        if not made and (name == WORLD or (name.startswith(_RESERVED) and name.endswith("__"))):
            faults.add(element, key, f"{shown(name)} is a name of the format itself; take another")
            return
        sibling = self.frames.get(full)
        if sibling is not None and (sibling.kind == frame.kind or frame.scope.names_frames):
            line = line_of(sibling.element)
            faults.add(element, key, f"{shown(name)} is a {sibling.kind} already, in line {line}")
            return
        full = full if sibling is None else f"{full} ({frame.kind})"
        self.frames[full] = frame
        self._first.setdefault((frame.scope.frame, frame.kind), full)

    def _names_origin(self, element: Element) -> bool:
        pose = element.first("pose")
        return pose is not None and bool(_relative_to(pose))

    def _pose(self, element: Element, named_in: Scope | None, scope: Scope) -> tuple[Pose, str]:
        """Return the pose of an element, and the full name of the frame in which it is expressed.

        `named_in` is the scope of the name; None for a model of another file, whose names are not
        valid in the including file.
        """
        pose = element.first("pose")
        key = f"{element.tag}.{element.attributes.get('name', '')}"
        if pose is None:
            return HERE, scope.frame
        name = _relative_to(pose)
        origin = self._full(named_in, name) if name and named_in is not None else scope.frame
        return self.pose_in(pose, key), origin

    def pose_in(self, pose: Element, key: str) -> Pose:
        """Position and orientation of a <pose>."""
        faults, attributes = self.files.faults, pose.attributes
        form = attributes.get("rotation_format", "euler_rpy").strip()
        degrees = attributes.get("degrees", "false").strip() in ("true", "1")
        if form not in ("euler_rpy", "quat_xyzw"):
            message = f"rotation_format: expected euler_rpy or quat_xyzw, found {shown(form)}"
            faults.add(pose, key, message)
            return HERE
        if not pose.text:
            return HERE
        count = 6 if form == "euler_rpy" else 7
        numbers = faults.numbers_in(pose, pose.text, "pose: ", key, count)
        if numbers is None:
            return HERE
        x = np.array(values(numbers))
        try:
            if count == 7:
                turn = from_quaternion([x[6], x[3], x[4], x[5]])
            else:
                turn = from_rpy((np.radians(x[3:]) if degrees else x[3:]).tolist())
        except ValueError:
            faults.add(pose, key, "pose: the quaternion is zero")
            return HERE
        return Pose(x[:3], rounded(turn))

    def _full(self, scope: Scope, name: str) -> str:
        """Return the full name of `name` in a scope, whether or not such a frame exists."""
        name = name.removesuffix(f"::{MODEL}")
        if name in (MODEL, ""):
            return scope.frame
        return WORLD if name == WORLD else scope.prefix + name

    def find(self, scope: Scope, name: str, element: Element, key: str) -> str | None:
        """Return the full name of a frame; None, and a fault, if there is none with this name."""
        full = self._full(scope, name)
        if full == WORLD or full in self.frames:
            return full
        hint = self.files.faults.hint(name, self._inside(scope))
        message = f"there is no link or frame named {shown(name)}{hint}"
        self.files.faults.add(element, key, message)
        return None

    def key(self, full: str) -> str:
        """Return the name of a link, joint or frame in messages: without the name of the robot."""
        return full.removeprefix(f"{self.model}::")

    def _check(self) -> None:
        """Check that poses refer to existing frames, without cycles; apply placements."""
        faults = self.files.faults
        for full, frame in self.frames.items():
            what = "child" if frame.kind == "joint" else "attached_to"
            ends = {frame.origin: "relative_to", frame.fixed_to: what}
            for name, word in ends.items():
                if name and name != WORLD and name not in self.frames:
                    inside = name.removeprefix(frame.scope.prefix)
                    hint = faults.hint(inside, self._inside(frame.scope, are_nested=False))
                    message = f"{word}: there is no link or frame named {shown(inside)}{hint}"
                    faults.add(frame.element, f"{frame.kind}.{self.key(full)}", message)
        faults.raise_if_any()
        self._check_circles([(full, frame.origin) for full, frame in self.frames.items()], "given")
        fixed = [(full, frame.fixed_to) for full, frame in self.frames.items() if frame.fixed_to]
        self._check_circles(fixed, "fixed")
        for model, placement, element in reversed(self._placed):
            if placement not in self.frames:
                name = placement.rpartition("::")[2]
                message = f"placement_frame: there is no link or frame named {shown(name)}"
                faults.add(element, f"model.{self.key(model)}", message)
                continue
            frame = self.frames[model]
            pose = frame.pose @ self.relative(model, placement).inverse()
            self.frames[model] = replace(frame, pose=pose)
            self._in_world = {WORLD: HERE}
        faults.raise_if_any()

    def _inside(self, scope: Scope, are_nested: bool = True) -> list[str]:
        """Names of the frames of a model in its scope, with or without nested models."""
        key = (scope.prefix, are_nested, len(self.frames))  # thousands of faults ask for the same
        if key not in self._names:
            full = (x for x in self.frames if x.startswith(scope.prefix))
            names = (x.removeprefix(scope.prefix) for x in full)
            self._names[key] = [x for x in names if are_nested or "::" not in x]
        return self._names[key]

    def _check_circles(self, edges: Iterable[tuple[str, str]], how: str) -> None:
        """Report cycles of `edges`."""
        ahead, done = dict(edges), {WORLD}
        for start in ahead:
            path: dict[str, None] = {}
            name = start
            while name in ahead and name not in done and name not in path:
                path[name] = None
                name = ahead[name]
            if name in path:
                element = self.frames[name].element
                circle = " -> ".join(shown(self.key(x)) for x in [*path][[*path].index(name) :][:5])
                message = f"this frame is {how} by itself, in a circle: {circle}"
                self.files.faults.add(element, f"{element.tag}.{self.key(name)}", message)
            done.update(path)
        self.files.faults.raise_if_any()

    def relative(self, frame: str, target: str) -> Pose:
        """The pose of `target` in `frame`, by full names; exact if one refers to the other."""
        ours, theirs = self._near(frame), self._near(target)
        common = next((name for name in theirs if name in ours), None)
        if common is None:
            return cleaned(self.in_world(frame).inverse() @ self.in_world(target))
        down = self._along(theirs[: theirs.index(common)])
        up = ours[: ours.index(common)]
        return cleaned(self._along(up).inverse() @ down) if up else cleaned(down)

    def _near(self, name: str) -> list[str]:
        """Return a frame, and the nearest frames that its pose refers to."""
        names = [name]
        while name != WORLD and len(names) <= _NEAR:
            name = self.frames[name].origin
            names.append(name)
        return names

    def _along(self, names: list[str]) -> Pose:
        """Return the pose of the first frame in the origin of the last."""
        pose = HERE
        for name in names:
            pose = self.frames[name].pose @ pose
        return pose

    def in_world(self, name: str) -> Pose:
        """Return the pose of a frame in the world."""
        path = []
        while name not in self._in_world:
            path.append(name)
            name = self.frames[name].origin
        for step in reversed(path):
            frame = self.frames[step]
            self._in_world[step] = cleaned(self._in_world[frame.origin] @ frame.pose)
        return self._in_world[path[0] if path else name]

    def link_of(self, name: str) -> str | None:
        """The link that a frame moves with, `WORLD` for the world; None for an empty model."""
        for _ in range(len(self.frames) + 1):
            if name == WORLD:
                return WORLD
            frame = self.frames[name]
            if frame.kind == "link":
                return name
            name = self._canonical(name) if frame.kind == "model" else frame.fixed_to
            if not name:
                return None
        return None

    def _canonical(self, model: str) -> str:
        """The link, or the nested model, that a model's frame moves with; "" if there is none."""
        element = self.frames[model].element
        scope = self.scopes[model]
        link = element.attributes.get("canonical_link", "").strip()
        if link and scope.prefix + link in self.frames:
            return scope.prefix + link
        return self._first.get((model, "link"), self._first.get((model, "model"), ""))


def rounded(turn: Matrix) -> Matrix:
    """Return a rotation matrix with entries that are 0 or 1 to rounding made exact."""
    nearest = np.rint(turn)
    return np.where(np.abs(turn - nearest) <= _ROUNDING, nearest, turn) + 0.0


def cleaned(pose: Pose) -> Pose:
    """Return a pose whose rotation is `rounded`."""
    return Pose(pose.at + 0.0, rounded(pose.turn))


def _relative_to(pose: Element) -> str:
    attributes = pose.attributes
    return attributes.get("relative_to", attributes.get("frame", "")).strip()


MOST_FILES = 100
MOST_LEVELS = 16
OLDEST, NEWEST = (1, 3), (1, 12)
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})")
Tell = Callable[[Element, str, str], None]
"""Records a fault or a warning: an element, its name in messages, the message."""


@dataclass(frozen=True)
class SdfFile:
    """An <sdf> element: the version of the format, the number of its file, its inclusion depth."""

    root: Element
    version: tuple[int, int]
    number: int = 0
    level: int = 0


@dataclass
class Files:
    """The files that have been read, in the order of their numbers."""

    names: list[str]
    reading: ReadOptions
    faults: Faults = field(init=False)
    folders: list[str] = field(init=False)
    elements: int = 0

    def __post_init__(self) -> None:
        self.faults = Faults(self.names[0], self.names)
        first = os.path.realpath(self.names[0])
        self.folders = [os.path.dirname(first), own_package(first)]

    def first(self, root: Element) -> SdfFile:
        """Return the file of the user."""
        return self._checked(SdfFile(root, self._version(root)))

    def included(self, include: Element, source: SdfFile, tell: Tell) -> SdfFile | None:
        """Return the file of an <include>; None, reported by `tell`, if it cannot be read."""
        element = include.first("uri")
        uri = "" if element is None else element.text
        if not uri:
            tell(include, "include", "an <include> needs <uri>model://NAME</uri> or a file")
            return None
        if source.level >= MOST_LEVELS or len(self.names) >= MOST_FILES:
            what = f"{MOST_LEVELS} levels" if source.level >= MOST_LEVELS else f"{MOST_FILES} files"
            file, line = written(self.names, include.line)
            raise stop(file, line, f"more than {what} of includes; does a file include itself?")
        path = self._path(uri, include, source, tell)
        if path is None:
            return None
        number = len(self.names)
        self.names.append(path)
        root = read_xml(load(path, "an SDF file"), path, number)
        if root.tag != "sdf":
            raise stop(path, line_of(root), f"expected <sdf>, found the element {shown(root.tag)}")
        return self._checked(SdfFile(root, self._version(root), number, source.level + 1))

    def _checked(self, source: SdfFile) -> SdfFile:
        waiting = [source.root]
        while waiting:
            self.elements += 1
            waiting += waiting.pop().children
        if self.elements > MAX_ELEMENTS:
            message = f"more than {MAX_ELEMENTS} elements in all files; no robot is that large"
            raise stop(self.names[source.number], 0, message)
        return source

    def _version(self, root: Element) -> tuple[int, int]:
        words = root.attributes.get("version", "")
        version = _version_in(words)
        if version is None:
            message = f'<sdf> needs a version, as in <sdf version="1.9">; found {shown(words)}'
            self.faults.add(root, "sdf", message)
        elif not OLDEST <= version < (2, 0):
            message = f"version {words} is not read, 1.3 to 1.12 are; gz sdf -p FILE writes a newer"
            self.faults.add(root, "sdf", message)
        return version or NEWEST

    def _path(self, uri: str, include: Element, source: SdfFile, tell: Tell) -> str | None:
        """Return the file of a URI, inside one of the folders that may be read."""
        scheme, colon, rest = uri.partition("://")
        folder_of_file = os.path.dirname(os.path.realpath(self.names[source.number]))
        if colon and scheme in ("model", "package"):
            name, _, inside = rest.partition("/")
            search = searched(self.names[0], dict(os.environ))
            folder = find(name, dict(self.reading.packages), search)
            if folder is None:
                message = (
                    f"there is no package {shown(name)} in the folders above this file; name its "
                    f"folder: --package {in_line(name)}=FOLDER (in Python packages=)"
                )
                tell(include, "include", message)
                return None
            self.folders.append(os.path.realpath(folder))
            path = os.path.join(folder, inside)
        elif colon and scheme != "file":
            tell(include, "include", f"{shown(uri)}: nothing is fetched; save it here")
            return None
        else:
            path = os.path.join(folder_of_file, rest if colon else uri)
        return self._inside(path, uri, include, tell)

    def _inside(self, path: str, uri: str, include: Element, tell: Tell) -> str | None:
        try:
            real = os.path.realpath(path)
            if os.path.isdir(real):
                real = os.path.realpath(_model_in(Path(real)))
        except (OSError, ValueError):  # a null byte, or a name that is too long
            real = ""
        if not any(Path(real).is_relative_to(folder) for folder in self.folders):
            message = (
                f"{shown(uri)} lies outside the folder of the model; only files in it and in "
                "packages are included (--package NAME=FOLDER)"
            )
            tell(include, "include", message)
            return None
        if not os.path.isfile(real):
            tell(include, "include", f"there is no file {shown(uri)}")
            return None
        return os.path.relpath(real) if Path(real).is_relative_to(os.getcwd()) else real


def _model_in(folder: Path) -> Path:
    """Return the SDF file of a model's folder: the newest one in its `model.config`."""
    config = folder / "model.config"
    if config.is_file():
        root = read_xml(load(config, "a model.config"), str(config))
        names = [x for x in root.all("sdf") if x.text]
        if names:
            newest = max(
                names, key=lambda x: _version_in(x.attributes.get("version", "")) or (0, 0)
            )
            return folder / newest.text
    return folder / "model.sdf"


def _version_in(words: str) -> tuple[int, int] | None:
    match = _VERSION.fullmatch(words.strip())
    return (int(match[1]), int(match[2])) if match else None
