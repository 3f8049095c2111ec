"""A package as templates see it: formulations, public functions and kernels.

    module : Package -> Module

Everything that a backend prints is computed here once, the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symgen.algebra.nodes import Scalar
from symgen.emit import text
from symgen.emit.bundle import ModuleMetadata, Package
from symgen.emit.interface import PublicFunction, public_function
from symgen.emit.kernels import Kernel, kernel
from symgen.emit.names import identifier
from symgen.emit.slices import sliced
from symgen.program.functions import BY_LINK, function_named
from symgen.program.loops import LoopedProgram
from symgen.program.program import Program


@dataclass(frozen=True)
class Formulation:
    """One formulation's functions and kernels, in the same order, those by link last.

    `notes` is the table of equations, as text; `offset` counts the functions of the formulations
    before this one; `missing` maps every function that this formulation does not have to the
    sentence that says where it is or how it is built.
    """

    name: str
    functions: tuple[PublicFunction, ...]
    kernels: tuple[Kernel, ...]
    notes: str
    offset: int
    missing: Mapping[str, str]


@dataclass(frozen=True)
class Module:
    """A package, ready to be printed.  `functions` are those of the table at the top level.

    `bodies` are C files that were printed before, without their headings, by formulation and
    function.
    """

    package: Package
    robot: str
    formulations: tuple[Formulation, ...]
    functions: tuple[PublicFunction, ...]
    bodies: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def metadata(self) -> ModuleMetadata:
        """What the package says about its robot."""
        return self.package.metadata

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of all formulations."""
        return tuple(k for formulation in self.formulations for k in formulation.kernels)

    @property
    def by_link(self) -> tuple[PublicFunction, ...]:
        """What the top level has for one link by its name; `formulation` is where it stands."""
        return tuple(
            replace(function, formulation=formulation.name)
            for formulation in self.formulations
            for function in formulation.functions
            if function.by_link
        )

    @property
    def packed(self) -> tuple[tuple[str, str], ...]:
        """Formulation and function of what also gives packed results; numbered after `kernels`."""
        return tuple(
            (formulation.name, function.name)
            for formulation in self.formulations
            for function in formulation.functions
            if function.packed
        )

    @property
    def signatures(self) -> tuple[PublicFunction, ...]:
        """Every function that some formulation has, once."""
        found = {f.name: f for formulation in self.formulations for f in formulation.functions}
        return tuple(found.values())

    def values(self) -> dict[str, Any]:
        """What every template may speak of."""
        return {
            "robot": self.robot,
            "version": text.version(self.metadata.symgen_version),
            "metadata": self.metadata,
            "sizes": self.metadata.sizes,
            "formulations": self.formulations,
            "formulation_names": tuple(formulation.name for formulation in self.formulations),
            "functions": self.functions,
            "function_names": tuple(function.name for function in self.functions),
            "signatures": self.signatures,
            "kernels": self.kernels,
            "packed": self.packed,
            "by_link": self.by_link,
        }


def module(
    package: Package,
    kernels: Mapping[tuple[str, str], Kernel] | None = None,
    bodies: Mapping[tuple[str, str], str] | None = None,
) -> Module:
    """`package`, ready to be printed; some kernels, by formulation and function, may be known, and
    of some the C as well."""
    return Module(
        package=package,
        robot=identifier(package.metadata.name),
        formulations=tuple(_formulations(package, kernels or {})),
        functions=tuple(
            public_function(function_named(name), package.metadata, identifier(formulation))
            for name, formulation in package.fastest.items()
        ),
        bodies=bodies or {},
    )


def _formulations(
    package: Package, known: Mapping[tuple[str, str], Kernel]
) -> Iterator[Formulation]:
    sizes = package.metadata.sizes
    offset = 0
    for name, programs in package.programs.items():
        kernels = [
            known.get((name, function)) or kernel(name, forms, sizes)
            for function, forms in programs.items()
        ]
        kernels += [
            sliced(stack, package.metadata.n)
            for stack in kernels
            if package.fastest.get(stack.function.name) == name and stack.function.name in BY_LINK
        ]
        elsewhere = {
            function: f"{name} does not have {function}; {serving}.{function} is there"
            for function, serving in package.fastest.items()
        }
        missing = {**package.missing, **elsewhere}
        yield Formulation(
            name=identifier(name),
            functions=tuple(public_function(k.function, package.metadata) for k in kernels),
            kernels=tuple(kernels),
            notes=text.notes_table(notes_of(forms.any for forms in programs.values())),
            offset=offset,
            missing={k: sentence for k, sentence in missing.items() if k not in programs},
        )
        offset += len(kernels)


def notes_of(programs: Iterable[Program[Scalar] | LoopedProgram[Scalar]]) -> dict[str, str]:
    """The notes of all programs: by family of labels, such as ``NE`` and ``dNE``, and number."""
    notes = {label: text for program in programs for label, text in program.notes.items()}
    families = list(dict.fromkeys(label.rpartition("-")[0] for label in notes))

    def place(label: str) -> tuple[int, int]:
        family, _, number = label.rpartition("-")
        return families.index(family), int(number) if number.isdecimal() else 0

    return {label: notes[label] for label in sorted(notes, key=place)}
