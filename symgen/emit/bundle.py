"""Input and output of emission: `Package` and `SourceBundle`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from symgen.algebra.nodes import Scalar
from symgen.program.loops import LoopedProgram
from symgen.program.program import Program
from symgen.runtime.configuration import BALL, FREE, Configuration

TO_READ = "c/plain"
"""The folder of C that is there to be read, and compiled by users alone."""


@dataclass(frozen=True)
class Limits:
    """Joint limits of one coordinate, as metadata; None where the model gives none."""

    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None


@dataclass(frozen=True)
class Sparsity:
    """The entries of an array that can differ from 0: their positions, counted row by row."""

    shape: tuple[int, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Fact:
    """A value that modules show and their code is not printed from, and its type in the stub.

    A list is shown as an array, `Sparsity` as one of booleans, all else as it is.
    """

    type: str
    value: Any


@dataclass(frozen=True)
class ModuleMetadata:
    """Metadata of a generated module about its robot (module-and-cli.md, "Metadata").

    The code is printed from the fields; `facts` are shown, by the name that they have there.
    """

    name: str
    description: str
    n: int
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
    """For every joint of the file, fixed ones included, the name of its link."""
    joint_parents: tuple[int, ...] = ()
    """For every joint the one that carries it, counted from 1; 0 is the base."""
    joint_coordinates: tuple[int, ...] = ()
    """Where some joints follow others: for every joint the coordinate that moves it, from 1."""
    prescribed: tuple[bool, ...] = ()
    """For every coordinate whether its motion is given in hybrid dynamics."""
    output_names: tuple[str, ...] = ()
    constraint_names: tuple[str, ...] = ()
    """The rows of all loops, then the relations."""
    loop_names: tuple[str, ...] = ()
    row_units: tuple[int, ...] = ()
    """Units of the constraints: `symgen.kinematics.loops.row_units`."""
    position_names: tuple[str, ...] = ()
    """Names of the entries of q, where those are not the coordinates."""
    quaternions: tuple[tuple[str, int, int], ...] = ()
    """Joints on manifolds: ``ball`` or ``free``, where their entries in q and their velocities
    begin."""
    timed: bool = False
    """Whether some forces mention the time."""
    tells_multipliers: bool = False
    """Whether outputs mention multipliers of constraints."""
    tied: tuple[tuple[int, ...], ...] = ()
    """Numbers of the coordinates that a force acts on or varies with, by force."""
    operation_counts: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """formulation -> function -> {additions, multiplications, divisions, functions}"""

    @cached_property
    def related(self) -> tuple[int, ...]:
        """Positions in an (n, n) array: coordinates with joints of which one carries, or is, the
        other, or that a force of the model ties."""
        paths: list[set[int]] = [set()]
        for joint, parent in enumerate(self.joint_parents or range(self.n), start=1):
            paths.append({*paths[parent], joint})
        numbers = (0, *(self.joint_coordinates or range(1, self.n + 1)))
        pairs = {(numbers[i], numbers[k]) for k, path in enumerate(paths) for i in path}
        pairs |= {(i, k) for numbers in self.tied for i in numbers for k in numbers}
        pairs |= {(k, i) for i, k in pairs}
        return tuple((i - 1) * self.n + k - 1 for i, k in sorted(pairs))

    @property
    def n_joints(self) -> int:
        """Number of joints of one coordinate, or on manifolds: n, where none follows another."""
        velocities = {BALL: 3, FREE: 6}
        inner = sum(velocities[kind] - 1 for kind, _, _ in self.quaternions)
        return (len(self.joint_coordinates) or self.n) - inner

    @property
    def nq(self) -> int:
        """Number of entries of q."""
        return self.n + len(self.quaternions)

    @property
    def velocities_of_entries(self) -> tuple[tuple[int, ...], ...]:
        """Velocities that move an entry of q: its own, or three of a joint on a manifold."""
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

    @property
    def sizes(self) -> Mapping[str, int]:
        """Value of every size that the shapes of functions are written in."""
        return {
            "n": self.n,
            "nq": self.nq,
            "n_joints": self.n_joints,
            "10 n_joints": 10 * self.n_joints,
            "n_links": len(self.link_names),
            "n_loads": len(self.load_names),
            "n_points": len(self.point_names),
            "n_parameters": len(self.parameter_names),
            "n_free": self.n - sum(self.prescribed),
            "n_prescribed": sum(self.prescribed),
            "n_outputs": len(self.output_names),
            "n_constraints": len(self.constraint_names),
            "n_loops": len(self.loop_names),
            "n_times": int(self.timed),
            "n_motion_multipliers": len(self.constraint_names) * self.tells_multipliers,
        }


@dataclass(frozen=True)
class Forms:
    """One function in the forms that it is printed in, at least one.

    Where there are both, C computes one sample in loops and several at a time in a straight line;
    but with `batches_in_loops` both in loops, and the straight line is for backends without loops.
    """

    straight: Program[Scalar] | None = None
    loops: LoopedProgram[Scalar] | None = None
    batches_in_loops: bool = False

    @property
    def any(self) -> Program[Scalar] | LoopedProgram[Scalar]:
        """One of them: its inputs and notes are those of the other one, too."""
        form = self.straight or self.loops
        if form is None:
            raise ValueError("a function has no form")
        return form


@dataclass(frozen=True)
class Package:
    """Everything that a backend prints: optimised programs and metadata.

    `programs` maps formulation -> function -> its forms, in the order in which they are printed.
    `fastest` maps each function to the formulation that serves it at the top level.
    `missing` maps each function that was not built to the sentence that its AttributeError shows.
    With `equal` every formulation is compiled for speed, not only what serves the top level; with
    `plain_c` C to be read is written for large robots, too; with `casadi` the files of CasADi's
    C interface are added to compiled kernels.
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
    """A shared library of C files: its path without the ending that the platform gives it."""

    path: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Extension:
    """A C extension module to compile: what Python imports, and the C files linked into it.

    Paths are relative to the package folder.  `name` is the stem of the module without any hash.
    `source` is C, which finds the name of the module in the macro SYMGEN_MODULE, or Cython;
    `shared` are C files that are the same for every package.  Those of `c_sources` that are also
    `versioned` are compiled again for every set of instructions that the compiler offers, those
    `versioned_for_one` only where that is for one sample at a time, and `chooser` is told which
    those are: see ``symgen-real.h``.  `straight` are those of `c_sources` that have no
    loops over joints.
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
        """Return what is compiled again for a set of instructions and `width` samples at a time."""
        return (*self.versioned, *self.versioned_for_one) if width == 1 else self.versioned


@dataclass(frozen=True)
class SourceBundle:
    """The files of a generated package, by path relative to the package folder."""

    package: str
    files: Mapping[str, str]
    extensions: tuple[Extension, ...] = ()
    libraries: tuple[Library, ...] = ()
    beginnings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For files that are compiled: text in the first line of a function -> its
    ``formulation.function``."""
    has_own_templates: bool = False
    """Whether templates of the user's printed some of the files."""

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
