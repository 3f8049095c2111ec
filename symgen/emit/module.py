"""A package as templates see it: formulations, public functions and kernels.

module : Package -> Module
public_function : Function -> PublicFunction     signature, docstring and shapes, as text
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symgen.algebra.nodes import Scalar
from symgen.emit import text
from symgen.emit.bundle import ModuleMetadata, Package
from symgen.emit.kernels import Array, Kernel, in_numbers, kernel, sliced
from symgen.emit.names import identifier
from symgen.program.arguments import LINK, PARAMETERS, why_empty
from symgen.program.function import Function
from symgen.program.functions import BY_LINK, function_named
from symgen.program.program import Program
from symgen.program.rolled import RolledProgram
from symgen.robot.records import record_fields

_OUT = (
    "array to write the result to and to return: float64, of the result's shape, any strides, "
    "not overlapping an argument"
)
_OUT_TUPLE = (
    "tuple of arrays to write the results to, None where one is to be allocated: float64, of the "
    "results' shapes, any strides, not overlapping an argument or each other"
)
_PACKED = (
    "True for square results as arrays {shape}: their entries at derivative_sparsity, row by row; "
    "all others are 0"
)
_SINGULAR = (
    "Where the mass matrix is singular (a pivot is at most n * eps * the diagonal entry of "
    "its row) one sample raises numpy.linalg.LinAlgError; in a batch such samples are NaN, with "
    "one RuntimeWarning."
)
_NO_LINK = "ValueError where no link has this name."
_BY_NAME = "; states may be dicts by name, with other entries as in neutral() (loops: initial_q)"


@dataclass(frozen=True)
class PublicFunction:
    """One function as users see it.

    `arguments` are positional; `options` and `parameters` are keyword-only.  `formulation` serves
    it at the top level.  `packed` are the results without structural zeros, if they are available.
    `empty` says why results have no entries, where they have none.  `record` is the class of the
    named tuple that it returns, if any.  A function `by_link` takes the name of a link first;
    kernels get its number.
    """

    name: str
    summary: str
    arguments: tuple[Array, ...]
    options: tuple[Array, ...]
    parameters: Array
    results: tuple[Array, ...]
    formulation: str = ""
    hidden: tuple[Array, ...] = ()
    packed: tuple[Array, ...] = ()
    empty: str = ""
    record: str = ""
    by_link: bool = False

    @property
    def inputs(self) -> tuple[Array, ...]:
        """All arguments but ``out``, in the order of the backends."""
        return (*self.arguments, *self.options, self.parameters)

    @property
    def given_names(self) -> list[str]:
        """Names of `inputs`."""
        return [array.name for array in self.inputs]

    @property
    def given(self) -> str:
        """`given_names`, as the text of an argument list."""
        return ", ".join(self.given_names)

    @property
    def signature(self) -> str:
        """Text between the parentheses of the definition."""
        options = [f"{array.name}=None" for array in (*self.options, self.parameters)]
        options += ["packed=False"] if self.packed else []
        return ", ".join([*(a.name for a in self.arguments), "*", *options, "out=None"])

    @property
    def typed_signature(self) -> str:
        """`signature`, with types, for a stub."""
        types = ("Rows" if array.is_state else "ArrayLike" for array in self.arguments)
        arguments = [f"{x.name}: {kind}" for x, kind in zip(self.arguments, types, strict=True)]
        if self.by_link:
            arguments[0] = f"{self.arguments[0].name}: str"
        options = [f"{array.name}: Rows | None = ..." for array in (*self.options, self.parameters)]
        options += ["packed: bool = ..."] if self.packed else []
        out = "Array | None"
        if len(self.results) > 1:
            out = f"tuple[{', '.join(['Array | None'] * len(self.results))}] | None"
        return ", ".join([*arguments, "*", *options, f"out: {out} = ..."])

    @property
    def typed_result(self) -> str:
        """Return type, for a stub."""
        if self.record:
            return self.record
        types = ["Array" if array.shape else "Any" for array in self.results]
        return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"

    @property
    def docstring(self) -> str:
        """`documentation`, escaped for a docstring."""
        return text.docstring(self.documentation)

    @property
    def documentation(self) -> str:
        """Summary, arguments and results with shapes, units and frames."""
        arguments = [
            (f"{a.name} {a.batch_shape}", f"{a.meaning}{_BY_NAME if a.name == 'q' else ''}")
            for a in self.arguments
        ]
        if self.by_link:
            arguments[0] = (self.arguments[0].name, self.arguments[0].meaning)
        arguments += [
            (f"{a.name} {a.batch_shape}", f"{a.meaning}; or a dict by name; default: 0")
            for a in self.options
        ]
        values = "this module has none"
        if self.parameters.size:
            values = f"values of {self.parameters.meaning}, or a dict by name; default: "
            values += "default_parameters"
        arguments.append((f"parameters {self.parameters.batch_shape}", values))
        if self.packed:
            arguments.append(("packed", _PACKED.format(shape=self.packed[-1].batch_shape)))
        arguments.append(("out", _OUT if len(self.results) == 1 else _OUT_TUPLE))
        names = record_fields(self.record) or [a.name for a in self.results]
        results = [
            (f"{name} {a.batch_shape}", a.meaning)
            for name, a in zip(names, self.results, strict=True)
        ]
        return (
            f"{text.wrapped(self.summary)}\n\n"
            f"Arguments (batch axes ... broadcast mutually):\n{text.table(arguments)}\n\n"
            f"Returns{f' a named tuple, {self.record}' if self.record else ''}:\n"
            f"{text.table(results)}"
            + (f"\n\n{text.wrapped(self.empty)}" if self.empty else "")
            + (f"\n\n{text.wrapped(_SINGULAR)}" if self.hidden else "")
            + (f"\n\n{_NO_LINK}" if self.by_link else "")
        )

    @property
    def result_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of `results`."""
        return tuple(array.shape for array in self.results)


def public_function(
    function: Function, metadata: ModuleMetadata, formulation: str = ""
) -> PublicFunction:
    """Return `function` of the robot of a module."""
    sizes = metadata.sizes
    function = function.of(sizes)
    named = replace(PARAMETERS, meaning=", ".join(metadata.parameter_names))
    results = in_numbers(function.results, sizes)
    packable, square = function.packable and metadata.related, (len(metadata.related),)
    packed = tuple(x if len(x.shape) < 2 else replace(x, shape=square) for x in results)
    return PublicFunction(
        name=function.name,
        summary=text.plain(function.summary),
        arguments=in_numbers(function.arguments, sizes),
        options=in_numbers(function.options, sizes),
        parameters=in_numbers((named,), sizes)[0],
        results=results,
        formulation=formulation,
        hidden=in_numbers(function.hidden, sizes),
        packed=packed if packable else (),
        empty=why_empty(function.results, sizes),
        record=function.record,
        by_link=LINK in function.arguments,
    )


@dataclass(frozen=True)
class Formulation:
    """Functions and kernels of one formulation, in the same order, those by link last.

    `notes` is the table of equations, as text; `offset` counts the functions of the formulations
    before this one; `missing` maps every function that this formulation lacks to the message that
    says where it is or how it is built.
    """

    name: str
    functions: tuple[PublicFunction, ...]
    kernels: tuple[Kernel, ...]
    notes: str
    offset: int
    missing: Mapping[str, str]


@dataclass(frozen=True)
class Module:
    """A package, ready for printing, with the `functions` of the top level.

    `bodies` are C files without headings that were printed early, by formulation and function.
    """

    package: Package
    robot: str
    formulations: tuple[Formulation, ...]
    functions: tuple[PublicFunction, ...]
    bodies: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def metadata(self) -> ModuleMetadata:
        """Facts of the robot."""
        return self.package.metadata

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of all formulations."""
        return tuple(k for formulation in self.formulations for k in formulation.kernels)

    @property
    def by_link(self) -> tuple[PublicFunction, ...]:
        """Functions of the top level for one link, with their formulation."""
        return tuple(
            replace(function, formulation=formulation.name)
            for formulation in self.formulations
            for function in formulation.functions
            if function.by_link
        )

    @property
    def packed(self) -> tuple[tuple[str, str], ...]:
        """Formulation and function of kernels with packed results; numbered after `kernels`."""
        return tuple(
            (formulation.name, function.name)
            for formulation in self.formulations
            for function in formulation.functions
            if function.packed
        )

    @property
    def signatures(self) -> tuple[PublicFunction, ...]:
        """The functions of all formulations, each once."""
        functions = {f.name: f for formulation in self.formulations for f in formulation.functions}
        return tuple(functions.values())

    def values(self) -> dict[str, Any]:
        """Return the values that all templates get."""
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
    """Prepare `package` for printing; `kernels` and `bodies` are those that were made early, by
    formulation and function."""
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
    package: Package, early: Mapping[tuple[str, str], Kernel]
) -> Iterator[Formulation]:
    sizes = package.metadata.sizes
    offset = 0
    for name, programs in package.programs.items():
        kernels = [
            early.get((name, function)) or kernel(name, forms, sizes)
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


def notes_of(programs: Iterable[Program[Scalar] | RolledProgram[Scalar]]) -> dict[str, str]:
    """Return the notes of all programs, sorted by family, such as ``NE`` or ``dNE``, and number."""
    notes = {label: text for program in programs for label, text in program.notes.items()}
    families = list(dict.fromkeys(label.rpartition("-")[0] for label in notes))

    def place(label: str) -> tuple[int, int]:
        family, _, number = label.rpartition("-")
        return families.index(family), int(number) if number.isdecimal() else 0

    return {label: notes[label] for label in sorted(notes, key=place)}
