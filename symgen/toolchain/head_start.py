"""C files that are compiled before the rest of their extension is there.

They come one by one, while others are derived, each with its headers.  A build then takes the
objects of those that have begun, if its own files say the same but for the first comment, and
compiles all others itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

from symgen.emit.bundle import SourceBundle
from symgen.toolchain.compiler import Compiler, include_folders, scratch
from symgen.toolchain.files import file_system_errors, relative_path, write_new
from symgen.toolchain.processes import Completed, Processes
from symgen.toolchain.units import units

FOLDER = "early"
"""Where they are compiled, in the folder of the build."""


@dataclass(frozen=True)
class EarlyObject:
    """An object file, by its path in the folder of the build, and what makes it."""

    text: str
    output: str
    command: tuple[str, ...]
    completed: Future[Completed]


class HeadStart:
    """Compilations in `folder` that have begun, by the threads of `pool`.

    The end of `processes` ends them.
    """

    def __init__(
        self, compiler: Compiler, flags: str, folder: Path, processes: Processes, pool: Executor
    ) -> None:
        self.folder = folder
        self._compiler = compiler
        self._flags = flags
        self._processes = processes
        self._pool = pool
        self._objects: dict[tuple[str, tuple[str, ...]], EarlyObject] = {}

    def begin(self, bundle: SourceBundle) -> None:
        """Compile the C files of the extensions of `bundle` in all their versions."""
        folder = self.folder / FOLDER
        with file_system_errors("write the sources to compile"):
            for name, text in bundle.files.items():
                path = folder / relative_path(name)
                if not path.exists():  # headers come again
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_new(path, text.encode())
        environment = {**scratch(self.folder), "PYTHONHASHSEED": "0"}
        for extension in bundle.extensions:
            for source, options in units(self._compiler, self._flags, extension):
                made = f"{len(self._objects)}.o"
                command = self._compiler.compile_command(
                    source, made, flags=self._flags, includes=include_folders(), more=options
                )
                completed = self._pool.submit(
                    self._processes.run, command, cwd=folder, environment=environment
                )
                text = bundle.files[source]
                self._objects[source, options] = EarlyObject(
                    text, f"{FOLDER}/{made}", command, completed
                )

    def end(self) -> None:
        """Begin with no more of them."""
        kept = ((key, made) for key, made in self._objects.items() if not made.completed.cancel())
        self._objects = dict(kept)

    def object(self, source: str, options: Sequence[str], text: str) -> EarlyObject | None:
        """The object of a C file that says `text`, compiled with these options, if it has begun."""
        found = self._objects.get((source, tuple(options)))
        return found if found and _differ_in_a_heading(text, found.text) else None


def _differ_in_a_heading(text: str, body: str) -> bool:
    """Whether `text` is `body` after nothing, or after one comment."""
    heading = text[: len(text) - len(body)].strip()
    is_comment = heading.startswith("/*") and heading.find("*/", 2) == len(heading) - 2
    return text.endswith(body) and (not heading or is_comment)
