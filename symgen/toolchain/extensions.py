"""SourceBundle -> binaries of its extension modules.

Cython runs in separate processes: it keeps global state and cannot be interrupted cleanly, and
beside the C files its start (0.2 s) costs little.  All commands run in the build folder with
relative paths, so that neither a command line nor a binary contains its location.

A `HeadStart` compiles C files while others are derived.  A build then uses the objects of those
whose text is the same but for the first comment.

An error that gcc, clang, or Cython reports at a line of a file of the bundle, or for a symbol of
the package, means that symgen printed invalid code.  Other errors (missing headers, unknown
options, signals, full disks) name no such line, or are recognised by their wording:
`symgen.toolchain.compiler.hint_for` gives advice on them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from symgen.emit.bundle import Extension, SourceBundle
from symgen.errors import ToolchainError
from symgen.options import NATIVE
from symgen.support.journal import Progress
from symgen.toolchain.cache import Cache, open_cache
from symgen.toolchain.compiler import (
    PLAIN_OPTIONS,
    WRAPPER_OPTIONS,
    Compiler,
    check_flag_set,
    extension_suffix,
    find_compiler,
    include_folders,
    scratch,
)
from symgen.toolchain.files import file_system_errors, write_all
from symgen.toolchain.key import extension_digest, extension_inputs, extension_module, object_digest
from symgen.toolchain.processes import CommandFailedError, Processes
from symgen.toolchain.tasks import Task, checked, processors, run_tasks

Key = TypeVar("Key")

BINARIES_FILE = "binaries.json"
"""List of the binaries of a package, which its runtime reads."""

CYTHON_SUFFIX = ".pyx"

LIBRARY_SUFFIX = ".dll" if sys.platform == "win32" else ".so"
"""Suffix of shared libraries that Python does not load."""

EARLY_FOLDER = "early"
"""Folder of the head start in the folder of the build."""

_AT_A_LINE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? ?(?P<words>.*)$", re.M)
_UNRESOLVED = re.compile(r"(?:undefined (?:reference to|symbol)|multiple definition of)\W*(\w+)")
_ENVIRONMENT = re.compile(
    r"No such file or directory|file not found|internal compiler error|[Nn]o space left|"
    r"[Oo]ut of memory|[Cc]annot allocate|virtual memory exhausted"
)
"""Faults of the environment that some compilers report at a line of a source."""


@dataclass(frozen=True)
class Binary:
    """A compiled extension module."""

    extension: str
    module: str
    file: str
    content: bytes = field(repr=False)
    cached: bool
    """Whether it was taken from the cache."""


@dataclass(frozen=True)
class CompileResult:
    """The binaries of a bundle, and what they cost."""

    binaries: tuple[Binary, ...]
    cpu_features: tuple[str, ...]
    """Required features of the processor; see `Compiler.cpu_features`."""
    seconds: Mapping[str, float]
    """Total seconds of the commands of each stage that ran: "cython", "c", "link"."""

    @property
    def cached(self) -> bool:
        """Whether nothing was compiled."""
        return all(binary.cached for binary in self.binaries)

    def files(self) -> dict[str, bytes]:
        """Return the files for the package folder: the binaries and their list."""
        needs = {"machine": platform.machine(), "cpu_features": list(self.cpu_features)}
        listed = {
            binary.extension.strip("_"): {
                "module": binary.module,
                "file": binary.file,
                "size": len(binary.content),
                **needs,
            }
            for binary in self.binaries
        }
        files = {binary.file: binary.content for binary in self.binaries}
        return {**files, BINARIES_FILE: (json.dumps(listed, indent=2) + "\n").encode()}


def compile_extensions(
    bundle: SourceBundle,
    *,
    compiler: Compiler | None = None,
    flags: str = NATIVE,
    cache: Cache | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    force: bool = False,
    processes: Processes | None = None,
    head_start: HeadStart | None = None,
) -> CompileResult:
    """Compile all extensions of `bundle`, or take them from the cache.

    Raises `ToolchainError` with the command, its status and its complete output; a
    `PrintedSourceError` if the compiler rejected generated code.  With `force` only objects that
    all packages share are taken from the cache.  The end of `processes` ends the compilation.
    Compilations that `head_start` has begun are used.
    """
    check_flag_set(flags)
    compiler = compiler or find_compiler()
    cache = cache or open_cache()
    keys = {
        extension.name: extension_digest(bundle, extension, compiler, flags)
        for extension in bundle.extensions
    }
    ready = {} if force else _from_cache(bundle.extensions, keys, cache)
    missing = [extension for extension in bundle.extensions if extension.name not in ready]
    seconds: dict[str, float] = {}
    if missing:
        build = _Build(bundle, compiler, flags, keys, cache, head_start)
        place = nullcontext(head_start.folder) if head_start else cache.workspace("compile")
        with place as folder:
            seconds = build.run(missing, folder, jobs or processors(), progress, processes)
            made = [build.result(extension, folder) for extension in missing]
        for binary in made:
            cache.store_binary(keys[binary.extension], binary.content)
            ready[binary.extension] = binary
        cache.remove_unused()
    binaries = tuple(ready[item.name] for item in bundle.extensions)
    return CompileResult(binaries, compiler.cpu_features(flags), seconds)


def compile_libraries(
    bundle: SourceBundle,
    *,
    compiler: Compiler,
    flags: str = NATIVE,
    progress: Progress | None = None,
) -> dict[str, bytes]:
    """Compile the shared libraries of `bundle`; return them by path in the package folder.

    They are not linked with Python, and hold the plain version of every kernel, compiled with
    `flags`.
    """
    headers = {name: text for name, text in bundle.files.items() if name.endswith(".h")}
    cache, libraries = open_cache(), {}
    with cache.workspace("compile") as folder:
        for library in bundle.libraries:
            file = library.path + LIBRARY_SUFFIX
            objects = [f"{source}.o" for source in library.sources]
            tasks = [
                Task(
                    "c", f"compilation of {source}",
                    compiler.compile_command(
                        source, made, flags=flags, more=compiler.kernel_options
                    ), made,
                )
                for source, made in zip(library.sources, objects, strict=True)
            ]  # fmt: skip
            link = compiler.link_command(objects, file)
            tasks.append(Task("link", f"linking of {file}", link, file, tuple(objects)))
            with file_system_errors(f"compile {file}"):
                write_all(folder, headers | {name: bundle.files[name] for name in library.sources})
                try:
                    run_tasks(tasks, folder, scratch(folder), processors(), progress)
                except CommandFailedError as error:
                    raise explained(error, bundle, cache) from error
                libraries[file] = (folder / file).read_bytes()
    return libraries


def seconds_alone(
    sources: Mapping[Key, str],
    headers: Mapping[str, str],
    progress: Callable[[Key, int, int], None] = lambda key, done, total: None,
) -> dict[Key, float]:
    """Measure the compile time of each C file, for this processor, in seconds.

    `headers` are the files that they include, by path relative to their folder.
    """
    compiler = find_compiler()
    seconds: dict[Key, float] = {}
    with open_cache().workspace("compile") as folder, Processes() as processes:
        with file_system_errors("write the sources to compile"):
            write_all(folder, headers)
        for done, (key, text) in enumerate(sources.items()):
            progress(key, done, len(sources))
            with file_system_errors("write the sources to compile"):
                write_all(folder, {f"{done}.c": text})
            command = compiler.compile_command(
                f"{done}.c", f"{done}.o", flags=NATIVE, more=compiler.kernel_options
            )
            task = Task("c", f"compilation of {key}", command, f"{done}.o")
            completed = processes.run(command, cwd=folder, environment=scratch(folder))
            seconds[key] = checked(task, completed).seconds
    return seconds


def _from_cache(
    extensions: Sequence[Extension], keys: Mapping[str, str], cache: Cache
) -> dict[str, Binary]:
    stored = ((extension, cache.binary(keys[extension.name])) for extension in extensions)
    return {
        extension.name: _binary(extension, keys[extension.name], content, cached=True)
        for extension, content in stored
        if content is not None
    }


def _binary(extension: Extension, key: str, content: bytes, *, cached: bool) -> Binary:
    module = extension_module(extension, key)
    return Binary(extension.name, module, module + extension_suffix(), content, cached)


@dataclass(frozen=True)
class _Build:
    """The compilation of some extensions in a temporary folder."""

    bundle: SourceBundle
    compiler: Compiler
    flags: str
    keys: Mapping[str, str]
    cache: Cache
    head_start: HeadStart | None

    def run(
        self,
        extensions: Sequence[Extension],
        folder: Path,
        jobs: int,
        progress: Progress | None,
        processes: Processes | None,
    ) -> dict[str, float]:
        # Generated headers are included in quotes, and their folders are not searched for <...>:
        # a robot named math must not hide the header of the C library.
        includes = include_folders()
        shared = dict.fromkeys(name for item in extensions for name in item.shared)
        if self.head_start:
            self.head_start.end()
        tasks = [self.shared_task(name, includes) for name in shared]
        tasks += [task for item in extensions for task in self.tasks(item, includes)]
        inputs = {
            path: text
            for item in extensions
            for path, text in extension_inputs(self.bundle, item).items()
        }
        tasks.sort(key=partial(_rank, inputs))
        with file_system_errors("write the sources to compile"):
            write_all(folder, inputs)
            for task in tasks:
                (folder / task.output).parent.mkdir(parents=True, exist_ok=True)
        environment = {**scratch(folder), "PYTHONHASHSEED": "0"}
        try:
            return run_tasks(tasks, folder, environment, jobs, progress, processes, self.cache)
        except CommandFailedError as error:
            raise explained(error, self.bundle, self.cache) from error

    def tasks(self, extension: Extension, includes: Sequence[str]) -> list[Task]:
        module = extension_module(extension, self.keys[extension.name])
        tasks: list[Task] = []
        first = extension.source
        if first.endswith(CYTHON_SUFFIX):
            first = f"{module}/{PurePosixPath(first).stem}.c"
            # -P: a file in the build folder must never hide a module of Python
            cython = (sys.executable, "-P", "-m", "cython", "-3", "--module-name", module)
            translate = (*cython, extension.source, "-o", first)
            tasks.append(Task("cython", f"translation of {extension.source}", translate, first))
        made = {task.output for task in tasks}
        objects: list[str] = []
        named = first, (f"-DSYMGEN_MODULE={module}",)
        for source, more in (named, *units(self.compiler, self.flags, extension)):
            text = self.bundle.files.get(source)
            task = self.head_start.task(source, more, text) if self.head_start and text else None
            if task is None:
                result = f"{module}/{len(objects)}.o"
                command = self.compiler.compile_command(
                    source, result, flags=self.flags, includes=includes, more=more
                )
                needs = tuple(made & {source})
                task = Task("c", f"compilation of {source}", command, result, needs)
            tasks.append(task)
            objects.append(task.output)
        library = module + extension_suffix()
        needs = (*objects, *map(_object, extension.shared))
        link = self.compiler.link_command(needs, library)
        return [*tasks, Task("link", f"linking of {library}", link, library, needs)]

    def shared_task(self, source: str, includes: Sequence[str]) -> Task:
        """Return the compilation of a C file that is the same for every package."""
        command = self.compiler.compile_command(
            source, _object(source), flags=self.flags, includes=includes, more=WRAPPER_OPTIONS
        )
        key = object_digest(self.bundle, source, self.compiler, self.flags)
        return Task("c", f"compilation of {source}", command, _object(source), kept_under=key)

    def result(self, extension: Extension, folder: Path) -> Binary:
        key = self.keys[extension.name]
        file = extension_module(extension, key) + extension_suffix()
        with file_system_errors(f"read what the compiler wrote for {extension.name}"):
            return _binary(extension, key, (folder / file).read_bytes(), cached=False)


def _object(source: str) -> str:
    """Return the object file of a shared C file, in the build folder."""
    return f"{source}.o"


def _rank(inputs: Mapping[str, str], task: Task) -> tuple[int, bool, int]:
    """Return the rank of a task: begun ones, then the longest chains (Cython, its C, C files,
    links), and among these the longest files first, to balance the load."""
    stage = -1 if task.begun else ("cython", "c", "link").index(task.stage)
    length = max((len(inputs.get(name, "")) for name in task.command), default=0)
    return stage, not task.needs, -length


# ----------------------------------------------------------------------------- units and head start


def units(
    compiler: Compiler, flags: str, extension: Extension
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every C file with its options, once for each version."""
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


class HeadStart:
    """Early compilations in `folder`, by threads of `pool`; the end of `processes` ends them."""

    def __init__(
        self, compiler: Compiler, flags: str, folder: Path, processes: Processes, pool: Executor
    ) -> None:
        self.folder = folder
        self._compiler = compiler
        self._flags = flags
        self._processes = processes
        self._pool = pool
        self._begun: dict[tuple[str, tuple[str, ...]], tuple[str, Task]] = {}

    def begin(self, bundle: SourceBundle) -> None:
        """Compile the C files of the extensions of `bundle` in all their versions."""
        folder = self.folder / EARLY_FOLDER
        with file_system_errors("write the sources to compile"):
            new = {n: x for n, x in bundle.files.items() if not (folder / n).exists()}
            write_all(folder, new)
        environment = {**scratch(self.folder), "PYTHONHASHSEED": "0"}
        for extension in bundle.extensions:
            for source, options in units(self._compiler, self._flags, extension):
                made = f"{len(self._begun)}.o"
                command = self._compiler.compile_command(
                    source, made, flags=self._flags, includes=include_folders(), more=options
                )
                completed = self._pool.submit(
                    self._processes.run, command, cwd=folder, environment=environment
                )
                action, output = f"compilation of {source}", f"{EARLY_FOLDER}/{made}"
                task = Task("c", action, command, output, begun=completed)
                self._begun[source, options] = bundle.files[source], task

    def end(self) -> None:
        """Cancel those that have not started."""
        self._begun = {
            key: (text, task)
            for key, (text, task) in self._begun.items()
            if task.begun and not task.begun.cancel()
        }

    def task(self, source: str, options: tuple[str, ...], text: str) -> Task | None:
        """Return the early compilation of a C file with `text` and options, if there is one."""
        begun, task = self._begun.get((source, options), ("", None))
        return task if _differ_in_a_heading(text, begun) else None


def _differ_in_a_heading(text: str, body: str) -> bool:
    """Return whether `text` is `body`, perhaps after one comment."""
    heading = text[: len(text) - len(body)].strip()
    is_comment = heading.startswith("/*") and heading.find("*/", 2) == len(heading) - 2
    return text.endswith(body) and (not heading or is_comment)


# ------------------------------------------------------------------------------------------- faults


class PrintedSourceError(CommandFailedError):
    """A compiler rejected a source that symgen printed."""


def explained(error: CommandFailedError, bundle: SourceBundle, cache: Cache) -> CommandFailedError:
    """Return `error` of a command, or a `PrintedSourceError` if its cause is a file of `bundle`.

    `cache` keeps the sources for a report.
    """
    place = _place(error.output, bundle)
    if not place:
        return error
    compiler = os.environ.get("CC", "").strip()
    printer = "the templates of --templates or of symgen" if bundle.has_own_templates else "symgen"
    lines = [
        f"this is a fault of {printer}, not of your model or compiler: invalid code was printed "
        f"for {place}"
    ]
    if compiler:
        lines.append(f"CC={compiler!r} must be a compiler of C99, such as gcc or clang")
    with suppress(OSError, ToolchainError):
        folder = cache.keep_failed(f"{bundle.package}-{bundle.digest[:12]}", bundle.files)
        lines.append(f"the source is kept in {folder}: please report it with the model file")
    lines.append('to go on without a compiler: --backend numpy, or backend="numpy" in symgen.load')
    hint = "\n".join(lines)
    return PrintedSourceError(error.action, error.command, error.status, error.output, hint)


def _place(output: str, bundle: SourceBundle) -> str:
    """Return the function and the printed source with an error that `output` reports, or ""."""
    for match in _AT_A_LINE.finditer(output):
        file, words = match["file"], match["words"]
        is_error = file.endswith(".pyx") or "error" in words
        if is_error and file in bundle.files and not _ENVIRONMENT.search(words):
            function = _function_at(bundle, file, int(match["line"]))
            return f"{function} in {file}" if function else file
    for symbol in _UNRESOLVED.findall(output):
        if symbol.startswith(f"{bundle.package}_"):
            return f"the symbol {symbol}"
    return ""


def _function_at(bundle: SourceBundle, file: str, line: int) -> str:
    """Return the ``formulation.function`` at a line of `file`; "" if unknown."""
    beginnings = bundle.beginnings.get(file, {})
    for text in reversed(bundle.files[file].splitlines()[:line]):
        for beginning, function in beginnings.items():
            if beginning in text:
                return function
    return next(iter(beginnings.values())) if len(set(beginnings.values())) == 1 else ""
