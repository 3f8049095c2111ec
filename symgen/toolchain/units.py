"""What is compiled of an extension: its C files, each with the options of every version."""

from __future__ import annotations

from collections.abc import Iterator

from symgen.emit.bundle import Extension
from symgen.toolchain.compiler import PLAIN_OPTIONS, Compiler


def units(
    compiler: Compiler, flags: str, extension: Extension
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every C file with the options of its version."""
    versions = compiler.versions(flags) if extension.versioned else ()
    kernels = compiler.kernel_options
    straight = (*kernels, *compiler.straight_options)
    quick = {
        name: straight if name in extension.straight else kernels for name in extension.c_sources
    }
    listed = " ".join(f"X({v.name}, {v.width}, {v.instructions})" for v in versions)
    for source in extension.c_sources:
        if source == extension.chooser and versions:
            yield source, (*quick[source], f"-DSYMGEN_VERSIONS(X)={listed}")
        elif source in extension.again_for(1) and any(v.width == 1 for v in versions):
            yield source, PLAIN_OPTIONS
        else:
            yield source, quick[source]
    for version in versions:
        for source in extension.again_for(version.width):
            yield source, (*quick[source], *version.options, *version.macros)
