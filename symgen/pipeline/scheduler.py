"""Compilation in parallel to the rest of a build, which keeps this process busy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from symgen.emit.bundle import Forms, SourceBundle
from symgen.emit.emission import EarlyKernels
from symgen.support.journal import Progress
from symgen.support.threads import prompt_threads
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compiler import Compiler
from symgen.toolchain.extensions import CompileResult, HeadStart, compile_extensions
from symgen.toolchain.key import digest_of
from symgen.toolchain.processes import Processes
from symgen.toolchain.tasks import processors


@dataclass
class Compilation:
    """Compilation of the extensions of one bundle, in a thread, from `begin` on.

    Some C files may begin before, unless an earlier build compiled everything: `key` identifies the
    content of the bundle.
    """

    compiler: Compiler | None
    flags: str
    key: str
    force: bool
    progress: Progress
    pool: ThreadPoolExecutor
    processes: Processes
    open_until_the_end: ExitStack
    head_start: HeadStart | None = None
    binaries: Future[CompileResult] | None = None
    is_awaited: bool = False

    @property
    def takes_head_starts(self) -> bool:
        """Whether `begin_early` saves time, for which it needs two processors."""
        if self.compiler is None or processors() == 1:
            return False
        return self.force or open_cache().binary(self._mark) is None

    @property
    def _mark(self) -> str:
        """Key of the mark in the cache that the binaries were made."""
        return digest_of("made", self.key)

    def begin_early(self, bundle: SourceBundle) -> None:
        """Begin with C files before the rest of the bundle is there."""
        if self.compiler is None:
            return
        if self.head_start is None:
            opened = self.open_until_the_end.enter_context
            folder = opened(open_cache().workspace("compile"))
            pool = opened(ThreadPoolExecutor(max(1, processors() - 1)))  # one is left to derive
            self.head_start = HeadStart(self.compiler, self.flags, folder, self.processes, pool)
        self.head_start.begin(bundle)

    def kernels(
        self, early: EarlyKernels | None, built: Mapping[str, Iterable[str]]
    ) -> Callable[[str, str, Forms], None]:
        """Return a callback for each derived kernel, with formulation, function and forms.

        It begins to compile a kernel that certainly serves the top level: the only one of its
        function among those that are `built`.
        """
        serving = Counter(name for functions in built.values() for name in functions)

        def derived(formulation: str, function: str, forms: Forms) -> None:
            if early is not None and serving[function] == 1:
                source = early.add(formulation, function, forms)
                if source is not None:
                    self.begin_early(source)

        return derived

    def begin(self, bundle: SourceBundle) -> None:
        """Begin to compile the extensions of `bundle`, if there are any."""
        if bundle.extensions:
            self.binaries = self.pool.submit(self._compiled, bundle)

    def result(self) -> CompileResult | None:
        """Wait for the binaries; None if there are none.  Raises the errors of the compilation."""
        self.is_awaited = True
        return None if self.binaries is None else self.binaries.result()

    def _compiled(self, bundle: SourceBundle) -> CompileResult:
        def report(stage: str, done: int, total: int) -> None:
            if self.is_awaited:  # else another stage reports its progress
                self.progress(f"compile: {stage}", done, total)

        made = compile_extensions(
            bundle, compiler=self.compiler, flags=self.flags, progress=report, force=self.force,
            processes=self.processes, head_start=self.head_start,
        )  # fmt: skip
        open_cache().store_binary(self._mark, b"")
        return made


@contextmanager
def compilation(
    compiler: Compiler | None, flags: str, key: str, force: bool, progress: Progress
) -> Iterator[Compilation]:
    """Open a compilation for the `with` block, whose end stops its processes."""
    with (
        ExitStack() as opened,
        prompt_threads(),
        ThreadPoolExecutor(1) as pool,
        Processes() as processes,
    ):
        yield Compilation(compiler, flags, key, force, progress, pool, processes, opened)
