"""Validation of a tool chain at its first use, by the printed formulas of the two-link arm.

A compiler and its flags that were never validated on this machine build every formulation of the
arm with the requested backends, whose results are compared with eqs. (69)-(82) of Xiang 2009.  A
success is remembered under the key of the tool chain.  The arm is compiled while this process
derives the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.description import read
from symgen.emit.bundle import SourceBundle
from symgen.emit.emission import emit
from symgen.errors import ValidationError
from symgen.options import ALL, BuildOptions
from symgen.runtime.checks import subjects_of
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compiler import Compiler
from symgen.toolchain.extensions import CompileResult, compile_extensions
from symgen.toolchain.install import stage
from symgen.toolchain.key import digest_of, toolchain_key
from symgen.toolchain.loading import forget_package, load_built
from symgen.toolchain.processes import Processes
from symgen.toolchain.tasks import beside
from symgen.validation.two_link import PRINTED_FUNCTIONS, model_path, validate_two_link
from symgen.validation.validate import ValidationResult


@contextmanager
def qualification(
    compiler: Compiler | None, flags: str, backends: Sequence[str], journal: Journal
) -> Iterator[Callable[[], bool]]:
    """Begin to validate the backends that were never validated, in parallel to the `with` block.

    Yields a function that finishes this and returns whether there was anything to validate.  It
    raises `ToolchainError` if the arm cannot be compiled, `ValidationError` if results differ from
    the printed formulas.
    """
    cache = open_cache(journal.notice)
    toolchain = toolchain_key(compiler, flags)
    keys = {name: digest_of(toolchain, name) for name in backends}
    missing = [name for name in backends if not cache.is_toolchain_validated(keys[name])]
    if not missing:
        yield lambda: False
        return
    with journal.stage("tool chain"):
        bundle = _two_link(missing, flags)

    def compiled(processes: Processes) -> CompileResult:
        return compile_extensions(bundle, compiler=compiler, flags=flags, processes=processes)

    with beside(compiled) as binaries:

        def finish() -> bool:
            with journal.stage("tool chain"):
                result = _validated(bundle, binaries, missing)
                if not result.passed:
                    message = "the tool chain does not reproduce the two-link arm, so nothing was "
                    lines = [f"{message}built with it", *map(str, result.failures)]
                    raise ValidationError("\n".join(lines))
            for name in missing:
                cache.mark_toolchain_validated(keys[name])
            tools = "the NumPy backend" if compiler is None else f"{compiler.name} ({flags})"
            journal.notice(
                f"first use of {tools} on this machine: the two-link arm agrees with eqs. "
                f"(69)-(82) of Xiang 2009 in every formulation and gradient ({len(result.rows)} "
                "comparisons)"
            )
            return True

        yield finish


def _two_link(backends: Sequence[str], flags: str) -> SourceBundle:
    description = read(model_path())
    options = BuildOptions(formulations=(ALL,), functions=PRINTED_FUNCTIONS, flags=flags)
    selection = select(description, options)
    return emit(package_of(description, derive_all(description, selection)), backends)


def _validated(
    bundle: SourceBundle, binaries: Future[CompileResult], backends: Sequence[str]
) -> ValidationResult:
    with open_cache().workspace("two-link") as folder, stage(folder / bundle.package) as staged:
        staged.write_sources(bundle.files)
        if bundle.extensions:
            staged.write_binaries(binaries.result().files())
        module = load_built(staged.folder, backends)
        try:
            return validate_two_link(subjects_of(module))
        finally:
            forget_package(module)
