"""Input and output of emission: `Package` and `SourceBundle`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from symgen.algebra.nodes import Scalar
from symgen.description.model import Limits
from symgen.program.program import Program
from symgen.program.rolled import RolledProgram
from symgen.runtime.configuration import FREE, Configuration, named_in_file

TO_READ = "c/plain"
"""The folder of readable C, which only users compile."""


@dataclass(frozen=True)
class Sparsity:
    """The entries of an array that can differ from 0: their positions, counted row by row."""

    shape: tuple[int, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Fact:
    """A value that modules show but their code does not depend on, and its type in the stub.

    Lists are shown as arrays, `Sparsity` as an array of booleans.
    """

    type: str
    value: Any


@dataclass(frozen=True)
class ModuleMetadata:
    """Metadata of a generated module about its robot (module-and-cli.md, "Metadata").

    The code is printed from the fields; `facts` are only shown, by name.
    """

    name: str
    description: str
    sizes: Mapping[str, int]
    """Sizes that shapes of functions refer to, by name: `KinematicTree.sizes`."""
    coordinate_names: tuple[str, ...]
    link_names: tuple[str, ...]
    load_names: tuple[str, ...]
    point_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    default_parameters: tuple[float, ...]
    limits: tuple[Limits, ...]
    model_hash: str
    symgen_version: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    joint_links: Mapping[str, str] = field(default_factory=dict)
    """Name of the link of every joint of the file, fixed ones included."""
    file_names: Mapping[str, str] = field(default_factory=dict)
    """`RobotDescription.file_names`."""
    joint_parents: tuple[int, ...] = ()
    """Number of the joint that carries each joint, from 1; 0 is the base."""
    joint_coordinates: tuple[int, ...] = ()
    """Number of the coordinate that moves each joint, from 1, if some joints follow others."""
    prescribed: tuple[bool, ...] = ()
    """Whether the motion of each coordinate is prescribed in hybrid dynamics."""
    output_names: tuple[str, ...] = ()
    constraint_names: tuple[str, ...] = ()
    """The rows of all loops, then the relations."""
    loop_names: tuple[str, ...] = ()
    row_units: tuple[int, ...] = ()
    """Units of the constraints: `symgen.kinematics.loops.row_units`."""
    velocity_rows: tuple[bool, ...] = ()
    """Whether each constraint is of velocities."""
    position_names: tuple[str, ...] = ()
    """Names of the entries of q, if they differ from the coordinates."""
    quaternions: tuple[tuple[str, int, int], ...] = ()
    """Joints on manifolds: ``ball`` or ``free``, first entry in q, first velocity."""

    tied: tuple[tuple[int, ...], ...] = ()
    """Numbers of the coordinates that each force acts on or depends on."""
    operation_counts: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """formulation -> function -> {additions, multiplications, divisions, functions}"""

    @cached_property
    def link_numbers(self) -> dict[str, int]:
        """Number of every link from 0, by its names in module and file; -1 base, -2 a point."""
        links = self.numbers((*self.link_names, "base"))
        numbers = {name: -1 if k == len(self.link_names) else k for name, k in links.items()}
        return numbers | {name: -2 for name in self.point_names if name not in numbers}

    def numbers(self, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of `names` from 0, by their names in module and file."""
        numbers = {name: k for k, name in enumerate(names)}
        return numbers | {x: numbers[y] for x, y in named_in_file(self.file_names, names).items()}

    @cached_property
    def related(self) -> tuple[int, ...]:
        """Positions in an (n, n) array of coordinates whose joints are on one path, or that one
        force of the model involves."""
        paths: list[set[int]] = [set()]
        for joint, parent in enumerate(self.joint_parents or range(self.n), start=1):
            paths.append({*paths[parent], joint})
        numbers = (0, *(self.joint_coordinates or range(1, self.n + 1)))
        pairs = {(numbers[i], numbers[k]) for k, path in enumerate(paths) for i in path}
        pairs |= {(i, k) for numbers in self.tied for i in numbers for k in numbers}
        pairs |= {(k, i) for i, k in pairs}
        return tuple((i - 1) * self.n + k - 1 for i, k in sorted(pairs))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.sizes["n"]

    @property
    def nq(self) -> int:
        """Number of entries of q."""
        return self.sizes["nq"]

    @property
    def unnamed(self) -> list[float]:
        """Entries of q that a dict by name leaves out: the neutral ones; with loops `initial`."""
        return list(self.facts["initial_q"].value) if self.constraint_names else self.neutral

    @property
    def neutral(self) -> list[float]:
        """The neutral configuration."""
        return [float(x) for x in Configuration(self.n, self.quaternions).neutral()]

    @property
    def velocities_of_entries(self) -> tuple[tuple[int, ...], ...]:
        """Velocities that change each entry of q: one, or three for a joint on a manifold."""
        space = Configuration(self.n, self.quaternions)
        sources: list[tuple[int, ...]] = [()] * space.nq
        for entry, velocity in zip(
            space.positions.tolist(), space.velocities.tolist(), strict=True
        ):
            sources[entry] = (velocity,)
        for kind, entry, velocity in self.quaternions:
            travel = 3 * (kind == FREE)
            sources[entry : entry + travel] = [tuple(range(velocity, velocity + 3))] * travel
            turn, first = velocity + travel, entry + travel
            sources[first : first + 4] = [tuple(range(turn, turn + 3))] * 4
        return tuple(sources)


@dataclass(frozen=True)
class Forms:
    """One function in at least one form: straight-line code, or loops over joints.

    With both forms, C computes one sample in loops and several at a time in straight-line code.
    With `batches_in_loops` it uses loops for both, and straight-line code is for other backends.
    """

    straight: Program[Scalar] | None = None
    rolled: RolledProgram[Scalar] | None = None
    batches_in_loops: bool = False

    @property
    def any(self) -> Program[Scalar] | RolledProgram[Scalar]:
        """Either form; both have the same inputs and notes."""
        form = self.straight or self.rolled
        if form is None:
            raise ValueError("a function has no form")
        return form


@dataclass(frozen=True)
class Package:
    """Everything that a backend prints: optimised programs and metadata.

    `programs` maps formulation -> function -> forms, in printing order.  `fastest` maps each
    function to the formulation that serves it at the top level, `missing` each function that was
    not built to the message of its AttributeError.  With `equal`, all formulations are compiled for
    speed, not only those that serve the top level; with `plain_c`, readable C is written for large
    robots, too; with `casadi`, external functions for CasADi are added.
    """

    metadata: ModuleMetadata
    programs: Mapping[str, Mapping[str, Forms]]
    fastest: Mapping[str, str]
    missing: Mapping[str, str] = field(default_factory=dict)
    equal: bool = False
    plain_c: bool = False
    casadi: bool = False


@dataclass(frozen=True)
class Library:
    """A shared library of C files: its path without the suffix of the platform."""

    path: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Extension:
    """A C extension module to compile, from a source file for Python and C files.

    Paths are relative to the package folder.  `name` is the stem of the module without any hash.
    `source` is Cython, or C that takes the name of the module from the macro SYMGEN_MODULE;
    `shared` are C files that are the same for every package.  `versioned` files of `c_sources` are
    compiled again for every set of instructions that the compiler offers, `versioned_for_one` files
    only for versions of one sample at a time; `chooser` gets the list of versions: see
    ``symgen-real.h``.  `straight` are files of `c_sources` without loops over joints.
    """

    name: str
    source: str
    c_sources: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    versioned: tuple[str, ...] = ()
    versioned_for_one: tuple[str, ...] = ()
    chooser: str = ""
    straight: tuple[str, ...] = ()

    def again_for(self, width: int) -> tuple[str, ...]:
        """Return the files to compile again for a version with `width` samples at a time."""
        return (*self.versioned, *self.versioned_for_one) if width == 1 else self.versioned


@dataclass(frozen=True)
class SourceBundle:
    """The files of a generated package, by path relative to the package folder."""

    package: str
    files: Mapping[str, str]
    extensions: tuple[Extension, ...] = ()
    libraries: tuple[Library, ...] = ()
    beginnings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Compiled file -> text in the first line of a function -> ``formulation.function``."""
    has_own_templates: bool = False
    """Whether a user's templates were used."""

    @property
    def digest(self) -> str:
        """Hash of all files: equal for equal source."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            for text in (name, self.files[name]):
                content = text.encode()
                total.update(f"{len(content)}:".encode() + content)
        return total.hexdigest()

    @property
    def lines(self) -> int:
        """Total number of source lines."""
        return sum(text.count("\n") for text in self.files.values())
