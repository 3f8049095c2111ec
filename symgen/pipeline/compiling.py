"""Compilation beside the rest of a build: it waits for processes, the rest keeps this one busy."""

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
from symgen.toolchain.compile import CompileResult, HeadStart, compile_extensions
from symgen.toolchain.compiler import Compiler
from symgen.toolchain.key import digest_of
from symgen.toolchain.processes import Processes
from symgen.toolchain.tasks import processors


@dataclass
class Compilation:
    """The extensions of one bundle, compiled in a thread from `begin` on.

    Some C files may begin before, unless all was compiled in an earlier build: `key` stands for
    everything that the bundle depends on.
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
        """Whether anything is gained by `begin_early`: not where one processor does all."""
        if self.compiler is None or processors() == 1:
            return False
        return self.force or open_cache().binary(self._mark) is None

    @property
    def _mark(self) -> str:
        """Where the cache says that the binaries were made."""
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
        """Return what is told of every kernel as it is derived: formulation, function and forms.

        It begins with the C file of a kernel that serves the top level for certain, being the only
        one of its function among those that are `built`.
        """
        serving = Counter(name for functions in built.values() for name in functions)

        def derived(formulation: str, function: str, forms: Forms) -> None:
            if early is not None and serving[function] == 1:
                source = early.add(formulation, function, forms)
                if source is not None:
                    self.begin_early(source)

        return derived

    def begin(self, bundle: SourceBundle) -> None:
        """Begin with what `bundle` says is to be compiled, if anything is."""
        if bundle.extensions:
            self.binaries = self.pool.submit(self._compiled, bundle)

    def result(self) -> CompileResult | None:
        """Wait for the binaries, None where there are none; raises what the compilation raised."""
        self.is_awaited = True
        return None if self.binaries is None else self.binaries.result()

    def _compiled(self, bundle: SourceBundle) -> CompileResult:
        made = compile_extensions(
            bundle,
            compiler=self.compiler,
            flags=self.flags,
            progress=self._tell,
            force=self.force,
            processes=self.processes,
            head_start=self.head_start,
        )
        open_cache().store_binary(self._mark, b"")
        return made

    def _tell(self, what: str, done: int, total: int) -> None:
        """Say how far it is, unless something else is being done that says so itself."""
        if self.is_awaited:
            self.progress(f"compile: {what}", done, total)


@contextmanager
def compilation(
    compiler: Compiler | None, flags: str, key: str, force: bool, progress: Progress
) -> Iterator[Compilation]:
    """A compilation that may begin in the `with` block; leaving that ends its processes."""
    with (
        ExitStack() as opened,
        prompt_threads(),
        ThreadPoolExecutor(1) as pool,
        Processes() as processes,
    ):
        yield Compilation(compiler, flags, key, force, progress, pool, processes, opened)
