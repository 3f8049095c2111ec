"""C to be read and to be linked into a controller: the folder ``c/plain`` of a package.

One C99 file and its header, nothing but libm beneath.  Every function of the top level stands in
it once, by the formulation that serves it there, named ``<robot>_<function>`` whatever formulation
that is, and with one and the same signature however the package was built: arguments, loads,
parameters, results.  Every statement has a line of its own, with the equation that it comes from.
A header for C++ gives the functions vectors and matrices of Eigen, of sizes that the compiler
knows.

Packages have it whose functions have up to `MOST_LINES` lines in all, and others where it is asked
for.  Functions that are written in loops alone are no part of it.
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
"""Lines of a part: a function is not cut."""


@dataclass(frozen=True)
class PlainFunction:
    """A function as the templates see it."""

    public: PublicFunction
    kernel: Kernel
    part: PrintedPart

    @property
    def name(self) -> str:
        """Name of the function after that of the robot."""
        return self.public.name

    @property
    def inputs(self) -> tuple[Array, ...]:
        """Its arguments, options and parameters, those of size 0 too."""
        return self.public.inputs

    @property
    def unused(self) -> list[str]:
        """Inputs that its lines do not mention."""
        used = {line.array for line in self.part.unpacked}
        return [array.name for array in self.inputs if array.name not in used]

    @property
    def defaults(self) -> tuple[Array, ...]:
        """Inputs that may be NULL and that its lines mention."""
        options = (*self.public.options, self.public.parameters)
        return tuple(array for array in options if array.name not in self.unused)

    @property
    def struct(self) -> str:
        """The C++ class of several results."""
        return "".join(word.capitalize() for word in self.name.split("_"))


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the folder; nothing where it would be too long to be read."""
    chosen, lines = [], 0
    for item in _functions(module):
        chosen.append(item)
        lines += sum(len(section.lines) for section in item.part.sections)
        if lines > MOST_LINES and not module.package.plain_c:
            return {}
    if not chosen:
        return {}
    notes = notes_of(item.kernel.program for item in chosen)
    values: Mapping[str, Any] = {
        **module.values(),
        "plain": chosen,
        "notes": text.notes_table(notes),
        "left_out": [f.name for f in module.functions if f.name not in {x.name for x in chosen}],
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
