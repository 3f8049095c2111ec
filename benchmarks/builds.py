"""Builds from an empty cache by stages.

    python -m benchmarks.builds                      # part of `make bench`
    python -m benchmarks.builds --models arm7 --flags portable

Every robot is built in an empty cache, where the tool chain is validated beside the derivation, and
once more in that cache, from nothing all the same: so a second robot on a machine is built.
"Cython", "C" and "link" are seconds of their commands, which run side by side; "processor" is what
all processes of the build took together.  The bytecode of symgen is there, as after an
installation.  Other options are those of `symgen build`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.marks import markdown
from benchmarks.models import ROOT

MODELS = "two_link,arm7,human43"
STAGES = {
    "tool chain": "tool chain", "derive": "derive", "emit": "emit", "compile": "compile",
    "cython": "Cython", "c": "C", "link": "link", "validate": "validate",
}  # fmt: skip
"""Name in the report of a build -> heading."""

HEADINGS = ("robot", "cache", "total", *STAGES.values(), "processor")


def build(model, folder, options, bytecode):
    """Seconds by stage of one build with the cache in `folder`."""
    command = [sys.executable, "-m", "symgen", "build", str(model), "--out", str(folder / "out")]
    environment = {
        **os.environ, "SYMGEN_CACHE_DIR": str(folder / "cache"),
        "PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": "",
    }  # fmt: skip
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*command, "--force", "--json", *options],
        env=environment, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    total, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    made = json.loads(done.stdout)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**made["seconds"], **made["command_seconds"], "total": total, "processor": taken}


def rows(name, options, bytecode):
    """The two builds of a robot among the examples, as rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("empty", "no longer"):
            seconds = build(ROOT / "examples" / f"{name}.yaml", Path(folder), options, bytecode)
            keys = ("total", *STAGES, "processor")
            yield [name, cache, *(f"{seconds[x]:.1f}" if x in seconds else "" for x in keys)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default=MODELS)
    given, options = parser.parse_known_args(arguments)
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    with tempfile.TemporaryDirectory() as bytecode:
        with tempfile.TemporaryDirectory() as folder:
            build(ROOT / "examples" / "two_link.yaml", Path(folder), [], bytecode)
        names = given.models.split(",")
        table = [row for name in names for row in rows(name, options, bytecode)]
    print("", "build from an empty cache by stages, seconds", "", sep="\n")
    print("\n".join(markdown(HEADINGS, table, words=2)))


if __name__ == "__main__":
    main()
