"""Compilation beside the rest of a build: it waits for processes, the rest keeps this one busy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from symgen.emit.bundle import SourceBundle
from symgen.support.journal import Progress
from symgen.support.threads import prompt_threads
from symgen.toolchain.compile import CompileResult, compile_extensions
from symgen.toolchain.compiler import Compiler
from symgen.toolchain.processes import Processes


@dataclass
class Compilation:
    """The extensions of one bundle, compiled in a thread from `begin` on."""

    compiler: Compiler | None
    flags: str
    force: bool
    progress: Progress
    pool: ThreadPoolExecutor
    processes: Processes
    binaries: Future[CompileResult] | None = None
    is_awaited: bool = False

    def begin(self, bundle: SourceBundle) -> None:
        """Begin with what `bundle` says is to be compiled, if anything is."""
        if bundle.extensions:
            self.binaries = self.pool.submit(self._compiled, bundle)

    def result(self) -> CompileResult | None:
        """Wait for the binaries, None where there are none; raises what the compilation raised."""
        self.is_awaited = True
        return None if self.binaries is None else self.binaries.result()

    def _compiled(self, bundle: SourceBundle) -> CompileResult:
        return compile_extensions(
            bundle,
            compiler=self.compiler,
            flags=self.flags,
            progress=self._tell,
            force=self.force,
            processes=self.processes,
        )

    def _tell(self, what: str, done: int, total: int) -> None:
        """Say how far it is, unless something else is being done that says so itself."""
        if self.is_awaited:
            self.progress(f"compile: {what}", done, total)


@contextmanager
def compilation(
    compiler: Compiler | None, flags: str, force: bool, progress: Progress
) -> Iterator[Compilation]:
    """A compilation that may begin in the `with` block; leaving that ends its processes."""
    with prompt_threads(), ThreadPoolExecutor(1) as pool, Processes() as processes:
        yield Compilation(compiler, flags, force, progress, pool, processes)
