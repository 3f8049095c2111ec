"""Kernels that are printed as soon as they are derived, so that they are compiled beside the next.

    EarlyKernels : Package without programs
    add          : formulation, function, Forms -> SourceBundle of one C file, if it is worth it

Emission takes what was printed from here.  All that a C file of a kernel says, but its heading, is
known when the kernel is, as long as templates are symgen's own: what it includes of the robot is a
header of prototypes.
"""

from __future__ import annotations

from symgen.emit import compiled
from symgen.emit.bundle import Extension, Forms, Package, SourceBundle
from symgen.emit.kernels import Kernel, kernel
from symgen.emit.module import module
from symgen.emit.templates import Templates


class EarlyKernels:
    """The kernels of a package whose programs are being derived.

    `kernels` and `bodies`, C files without their headings, are by formulation and function.
    """

    def __init__(self, package: Package) -> None:
        self.kernels: dict[tuple[str, str], Kernel] = {}
        self.bodies: dict[tuple[str, str], str] = {}
        self._module = module(package)
        self._templates = Templates()
        headers = {name: self._templates.source(name) for name in compiled.VERBATIM}
        self._headers = {**headers, f"c/{self._module.robot}.h": ""}

    def add(self, formulation: str, function: str, forms: Forms) -> SourceBundle | None:
        """A kernel that will serve the top level: its C file, and headers.  None if the kernel is
        short, or not compiled in all versions."""
        package, robot = self._module.package, self._module.robot
        added = kernel(formulation, forms, package.metadata.sizes)
        self.kernels[formulation, function] = added
        name = compiled.source_alone(robot, added)
        guard = compiled.guard(added, True, package.equal)
        if added.paths or not name or guard != compiled.EVERYWHERE:
            return None
        values = {**self._module.values(), "guards": {(formulation, function): guard}}
        text = compiled.body([added], values, self._templates)
        self.bodies[formulation, function] = text
        straight = () if added.loops else (name,)
        extension = Extension("_compiled", "", (name,), versioned=(name,), straight=straight)
        return SourceBundle(robot, {**self._headers, name: text}, (extension,))
