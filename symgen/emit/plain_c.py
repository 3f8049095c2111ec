"""Readable C for controllers: the folder ``c/plain`` of a package.

It is one C99 file, which needs libm alone, with a header.  The file holds every function of the top
level once, by its fastest formulation, as ``<robot>_<function>`` with a signature that does not
depend on build options: arguments, loads, parameters, results.  Each statement has its own line,
with the label of its equation.  A header for C++ wraps the functions for Eigen vectors and matrices
of fixed size.

Packages have the folder if their functions have up to `MOST_LINES` lines in all, or on request.
Functions that are written in loops alone are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from symgen.emit import text
from symgen.emit.bundle import TO_READ
from symgen.emit.kernels import Array, Kernel, PrintedPart
from symgen.emit.module import Module, PublicFunction, notes_of
from symgen.emit.printing import PLAIN_C
from symgen.emit.templates import Templates

MOST_LINES = 6000
_WHOLE = 10**9
"""Lines of a part, for functions that are not split."""


@dataclass(frozen=True)
class PlainFunction:
    """A function as the templates see it."""

    public: PublicFunction
    kernel: Kernel
    part: PrintedPart

    @property
    def unused(self) -> list[str]:
        """Inputs that no line uses."""
        used = {line.array for line in self.part.unpacked}
        return [array.name for array in self.public.inputs if array.name not in used]

    @property
    def defaults(self) -> tuple[Array, ...]:
        """Optional inputs, which may be NULL, that some line uses."""
        options = (*self.public.options, self.public.parameters)
        return tuple(array for array in options if array.name not in self.unused)

    @property
    def struct(self) -> str:
        """Name of the C++ class that holds several results."""
        return "".join(word.capitalize() for word in self.public.name.split("_"))


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the files of the folder; none where they would be too long to read."""
    chosen, lines = [], 0
    for item in _functions(module):
        chosen.append(item)
        lines += sum(len(section.lines) for section in item.part.sections)
        if lines > MOST_LINES and not module.package.plain_c:
            return {}
    if not chosen:
        return {}
    notes = notes_of(item.kernel.program for item in chosen)
    names = {item.public.name for item in chosen}
    values: Mapping[str, Any] = {
        **module.values(),
        "plain": chosen,
        "notes": text.notes_table(notes),
        "left_out": [f.name for f in module.functions if f.name not in names],
        "calls_sign": any("sign" in item.kernel.functions for item in chosen),
    }
    return {
        f"{TO_READ}/{module.robot}.{ending}": templates.render(f"c/plain.{ending}", **values)
        for ending in ("c", "h", "hpp")
    }


def _functions(module: Module) -> Iterator[PlainFunction]:
    kernels = {(kernel.formulation, kernel.function.name): kernel for kernel in module.kernels}
    for public in module.functions:
        kernel = kernels[public.formulation, public.name]
        if kernel.line is not None:
            (part,) = kernel.printed(PLAIN_C, _WHOLE).parts
            yield PlainFunction(public, kernel, part)
