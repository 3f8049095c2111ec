"""Digests of everything that symgen makes of robots without a compiler, printed as a JSON list.

Run as a program, in as many surroundings as there are to try: ``python made.py TASK ...``, where
a task is ``KIND:ARGUMENT``.  A package takes long because of its compiler; its sources do not need
one, so they are made by the functions of the pipeline."""

import contextlib
import hashlib
import io
import json
import locale
import os
import re
import sys
import tempfile
from pathlib import Path

from symgen.cli import run
from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.description import read
from symgen.emit.emission import BACKEND_NAMES, emit
from symgen.options import LOOPS, BuildOptions

SECONDS = re.compile(r'^.*"derive_seconds".*$', re.MULTILINE)


def digest(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


def sources(model, **options):
    """All files of the package, of all backends, with what the build says of its programs."""
    description = read(model)
    options = BuildOptions(**options)
    selection = select(description, options)
    alone = options.form == LOOPS  # Cython knows straight lines only
    derived = derive_all(description, selection, form=options.form, rolled_alone=alone)
    backends = [name for name in BACKEND_NAMES if not (alone and name == "cython")]
    bundle = emit(package_of(description, derived), backends)
    listed = [[item.formulation, item.function, item.statements] for item in derived.reports]
    return {**{name: digest(text) for name, text in bundle.files.items()}, "programs": listed}


def perform(*arguments):
    """What a command prints, which has to succeed; no assert, because of ``python -O``."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = run([str(argument) for argument in arguments])
    if status:
        raise SystemExit(f"{arguments} ended with {status}")
    return out.getvalue()


def printed(*arguments):
    return digest(SECONDS.sub("", perform(*arguments)))


def shown(model):
    found = {what: printed("show", model, what) for what in ("tree", "frames")}
    for style in ("pretty", "latex", "python", "c", "javascript"):
        for what in ("mass_matrix", "forward_dynamics"):
            found[f"{what} {style}"] = printed("show", model, what, "--format", style)
    return {**found, "steps": printed("show", model, "inverse_dynamics", "--steps")}


def written(name, *command):
    """Digest of the file of this name that a command writes."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / name
        perform(*command, target)
        return digest(target.read_bytes())


def growth(family):
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "growth.svg"
        options = ["--family", family, "--joints", "1..3", "--plot", picture, "--json"]
        return [printed("compare", *options), digest(picture.read_bytes())]


def converted(model):
    return [
        written(f"{style}.yaml", "convert", model, "-q", "--style", style)
        for style in ("origin", "standard", "modified")
    ]


def decimal(number):
    """A number as the locale writes it; this differs."""
    return locale.str(float(number))


TASKS = {
    "sources": sources,
    "parameters": lambda model: sources(model, runtime_parameters=("all",)),
    "loops": lambda model: sources(model, form=LOOPS),
    "all": lambda model: sources(model, formulations=("all",)),
    "show": shown,
    "report": lambda model: written("page.html", "report", model, "--quick", "-q", "-o"),
    "growth": growth,
    "convert": converted,
    "read": lambda model: written("read.yaml", "convert", model, "-q"),
    "new": lambda name: [written(f"{name}.yaml", "new", "-q"), printed("schema")],
    "decimal": decimal,
}


def as_users_do():
    """Take the locale of the surroundings, as a program does that symgen is used from."""
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:  # it is not installed
        if "LOCPATH" in os.environ:  # it is
            raise


def main():
    as_users_do()
    found = []
    for task in sys.argv[1:]:
        kind, _, argument = task.partition(":")
        found.append(TASKS[kind](argument))
    print(json.dumps(found, sort_keys=True))


if __name__ == "__main__":
    main()
