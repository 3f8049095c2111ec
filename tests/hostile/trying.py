"""Every file of the corpus through the command line, each in a process of its own.

    python -m tests.hostile.trying FOLDER PART   ->   JSON: name -> status, words, leftovers

The process forks after the imports, so that a file costs milliseconds.  Its child has 20 s of the
processor and 1 GiB beside what there is, and it is watched (`watching`); the kernel ends it if it
takes more."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from symgen import grade
from symgen.cli import run
from symgen.description import read
from symgen.errors import SymgenError
from tests.hostile import targets
from tests.hostile.enormous import ENORMOUS
from tests.hostile.mutating import HERE, KINDS
from tests.hostile.watching import SECONDS, Watch, limit_memory

CORPUS = HERE / "corpus"
TARGET = "converted.yaml"


def commands(path: str) -> list[str]:
    """What is done with a file: `symgen grade` with an answer, else `symgen convert`."""
    if path.endswith(KINDS["answer"]):
        return ["grade", "pendulum.yaml", path]
    return ["convert", path, TARGET]


def read_only(path: str) -> int:
    """Read a file as every command does, and nothing else; the exit status that it would give."""
    try:
        read(path)
    except SymgenError as error:
        print(error)
        return error.exit_status
    return 0


def limited() -> None:
    """Let the kernel end this process if it takes too long, or too much."""
    seconds = int(SECONDS)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, spent + seconds + 1))
    limit_memory()


def attempt(path: str, is_enormous: bool) -> dict[str, Any]:
    """Run the command, here and now, watched.

    An enormous robot is read, and not converted: that reads it twice, and writes it."""
    said = io.StringIO()
    watch = Watch(may_write=(TARGET,), may_read=("pendulum.yaml",))
    before = sorted(os.listdir())
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            with watch.during(path):
                alone = is_enormous and not path.endswith(KINDS["answer"])
                status = read_only(path) if alone else run(commands(path))
        except BaseException as error:
            status = -1
            said.write(f"{type(error).__name__}: {error}")
    left = sorted(set(os.listdir()) - set(before))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"status": status, "said": said.getvalue(), "left": left, "peak_kib": peak}


def file_of(name: str) -> str:
    """The name that a file of the corpus bears while it is tried."""
    return name.replace("/", "_")


def in_a_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` returns in a child of this process, or how the child ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        limited()
        with os.fdopen(writer, "w") as stream:
            json.dump(work(), stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    _, ended, usage = os.wait4(child, 0)
    found = json.loads(text) if text else {"status": -1, "said": f"ended by {ended}", "left": []}
    return {**found, "seconds": usage.ru_utime + usage.ru_stime}


def makers(part: str) -> Mapping[str, Callable[[], bytes]]:
    """The files of a part of the corpus and what makes them; every fourth of ``enormous:4``."""
    kind, _, step = part.partition(":")
    if kind == "enormous":
        found = {f"enormous/{name}": make for name, make in ENORMOUS.items()}
    else:
        found = {f"{kind}/{x.name}": x.read_bytes for x in sorted((CORPUS / kind).iterdir())}
    return {name: found[name] for name in [*found][:: int(step or 1)]}


def try_all(folder: Path, part: str) -> Mapping[str, dict[str, Any]]:
    """All files of a part of the corpus, in `folder`."""
    os.chdir(folder)
    Path("pendulum.yaml").write_text(targets.PENDULUM)
    grade("pendulum.yaml", "M[1,1] = 1")  # what every child would import and compute
    results = {}
    for name, make in makers(part).items():
        path = Path(file_of(name))
        path.write_bytes(make())
        work = partial(attempt, str(path), name.startswith("enormous/"))
        results[name] = in_a_child(work)
        path.unlink()
        Path(TARGET).unlink(missing_ok=True)
    return results


if __name__ == "__main__":
    print(json.dumps(try_all(Path(sys.argv[1]), sys.argv[2])))
