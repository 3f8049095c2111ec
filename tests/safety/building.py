"""Packages whose binaries are made to be watched: with sanitizers, in versions of any width."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace

from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.description import read
from symgen.emit.emission import emit
from symgen.options import PORTABLE
from symgen.toolchain.compiler import Compiler, Version
from symgen.toolchain.extensions import compile_extensions
from tests.modules import ROOT

EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Watched(Compiler):
    """Makes other versions of the kernels, with less optimisation: sanitizers make it slow."""

    made: tuple[Version, ...] = ()

    def compile_command(self, source, output, *, flags, includes=(), more=()):
        more = (*more, "-O1")
        return super().compile_command(source, output, flags=flags, includes=includes, more=more)

    def versions(self, flags):
        return self.made or super().versions(flags)


def bundle_of(model, options, backends):
    description = read(model)
    selection = select(description, options)
    derived = derive_all(
        description, selection, form=options.form, rolled_alone="cython" not in backends
    )
    return emit(package_of(description, derived, options.equal), backends)


def put(bundle, folder, compiler, change=None):
    """Write a package and its binaries, made of sources that are changed before."""
    if change is not None:
        bundle = replace(bundle, files=change(dict(bundle.files)))
    return write(bundle, folder, compiler=compiler, flags=PORTABLE)  # all versions


def write(bundle, folder, **options):
    """Write the files of a package below `folder`, compiled where there are options for that."""
    wanted = options and bundle.extensions
    binaries = compile_extensions(bundle, **options).files() if wanted else {}
    target = folder / bundle.package
    for name, content in {**bundle.files, **binaries}.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return target


def replaced(file, former, other):
    def change(files):
        assert files[file].count(former) == 1, (file, former)
        return {**files, file: files[file].replace(former, other)}

    return change


def python(*arguments, environment=None, timeout=500):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, env=environment,
        timeout=timeout, check=False,
    )  # fmt: skip


def report(done):
    """Read the report of a process, which must end with status 0."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def always_streaming(files):
    """Write results of any size past the caches."""
    (chooser,) = (name for name in files if name.endswith("_batch.c"))
    return replaced(chooser, "        look_at_cache();\n", "        most_in_cache = 0.0;\n")(files)
