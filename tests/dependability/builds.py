"""Builds in processes of their own, in a world that can be looked at afterwards.

A `World` has everything that a build may write to: the folder with the packages, the cache, the
home folder, and the one for temporary files.  Two variants of one robot, which differ in a mass,
tell which build a package comes from."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from symgen.options import NATIVE
from symgen.pipeline.qualification import qualification
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compiler import find_compiler
from tests.support.commands import printed_by

ROOT = Path(__file__).parents[2]
NAME = "pendulum"
MODEL = """\
symgen: 1
name: {name}
joints:
  - {{name: swing, type: revolute, origin: {{}}, axis: [0, 1, 0],
      link: {{mass: {mass}, com: [0.5, 0, 0], inertia: {{xx: 0.1, yy: 0.1}}}}}}
  - {{name: bend, type: revolute, origin: {{xyz: [1, 0, 0]}}, axis: [0, 1, 0],
      link: {{mass: {mass}, com: [0.5, 0, 0], inertia: {{xx: 0.1, yy: 0.1}}}}}}
"""
OPTIONS = ("--formulations", "newton_euler", "--functions", "inverse_dynamics,mass_matrix")
USE = """\
import json, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import warnings
warnings.simplefilter("error")
import generated.pendulum as robot
b = {name: robot.backends[name].newton_euler for name in ("compiled", "numpy")}
m = {name: float(b[name].mass_matrix([0.0, 0.0])[1, 1]) for name in b}
t = {name: float(b[name].inverse_dynamics([0.0] * 2, [0.0] * 2, [0.0] * 2)[1]) for name in b}
print(json.dumps([m, t]))
"""


def python(*arguments):
    """A command line of this Python that sees nothing but what it is told."""
    return [sys.executable, "-B", *arguments]


@dataclass
class World:
    """Folders for builds, and what identifies the processes that they start.

    In one that is `qualified` the tool chain was validated before."""

    folder: Path
    qualified: bool = True
    more: Mapping[str, str] = field(default_factory=dict)
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self):
        for name in ("home", "tmp", "cache", "work"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if self.qualified:
            given = find_compiler(), NATIVE, ("compiled", "numpy"), Journal()
            with qualification(*given) as finish:  # once for all tests of a run
                finish()
            stamps = open_cache().folder / "validated"
            shutil.copytree(stamps, self.folder / "cache" / "validated")

    @property
    def work(self):
        return self.folder / "work"

    @property
    def package(self):
        """Where the package of `NAME` is."""
        return self.work / "generated" / NAME

    def environment(self):
        return {
            **os.environ, "PYTHONPATH": str(ROOT), "SYMGEN_TEST_WORLD": self.mark,
            "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"),
            "XDG_CACHE_HOME": str(self.folder / "home" / ".cache"),
            "SYMGEN_CACHE_DIR": str(self.folder / "cache"), **self.more,
        }  # fmt: skip

    def model(self, mass):
        path = self.folder / f"mass {mass!r}.yaml"
        if not path.exists():
            path.write_text(MODEL.format(name=NAME, mass=repr(mass)))
        return path

    def hold_a_package(self):
        """Put the package with mass 1 here, and what was cached: built once in a run.

        Returns how many seconds that took."""
        made, seconds = _package_of_mass_1()
        shutil.copytree(made.package, self.package, dirs_exist_ok=True)
        shutil.copytree(made.folder / "cache", self.folder / "cache", dirs_exist_ok=True)
        return seconds

    def start(self, mass, *options):
        """Start a build; it leads a process group, as if it were typed in a shell."""
        command = python("-m", "symgen", "build", str(self.model(mass)), *OPTIONS, *options)
        return subprocess.Popen(
            command, cwd=self.work, env=self.environment(), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, process_group=0,
        )  # fmt: skip

    def build(self, mass, *options):
        process = self.start(mass, *options)
        _, said = process.communicate()
        return process.returncode, said

    def installed_mass(self):
        """Import the package as a user would; the mass that all of its arithmetic was made for.

        Any warning, such as one about a binary that does not load, is an error here."""
        command = python("-c", USE, str(self.work))
        said = printed_by(*command, cwd=self.folder, env=self.environment())
        inertias, torques = json.loads(said)
        masses = {round((value - 0.1) / 0.25, 9) for value in inertias.values()}
        weights = {round(-value / 9.81 / 0.5, 9) for value in torques.values()}
        assert len(masses) == 1, inertias
        assert masses == weights, (inertias, torques)
        return float(masses.pop())

    def processes(self):
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (folder / "environ").read_bytes()
                if f"SYMGEN_TEST_WORLD={self.mark}".encode() in environment.split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(folder.name)] = command.decode(errors="replace")
        return found

    def leftovers(self):
        """What lies around that no finished build leaves."""
        manifest = json.loads((self.package / "manifest.json").read_text())["files"]
        machine = json.loads((self.package / "build.json").read_text())["files"]
        ours = {f"generated/{NAME}/{name}" for name in (*manifest, *machine)}
        ours |= {f"generated/{NAME}/{name}" for name in ("manifest.json", "build.json")}
        here = {path.relative_to(self.work).as_posix() for path in files(self.work)}
        others = [
            path.as_posix()
            for folder in ("cache/work", "home", "tmp")
            for path in files(self.folder / folder)
        ]
        return sorted([*(here - ours), *others, *(f"missing: {name}" for name in ours - here)])


@functools.cache
def _package_of_mass_1():
    place, start = open_cache().folder / "package of mass 1", time.monotonic()
    if not place.exists():  # no other worker has built it
        draft = World(Path(tempfile.mkdtemp(dir=open_cache().folder)))
        status, said = draft.build(1.0)
        assert status == 0, said
        with contextlib.suppress(OSError):  # another one was faster
            draft.folder.rename(place)
    return World(place, qualified=False), time.monotonic() - start


def files(folder):
    for path in folder.rglob("*"):
        if not path.is_dir() or path.is_symlink() or not any(path.iterdir()):
            yield path


def random_mass(generator):
    """A mass that no other build has, so that nothing comes from the cache."""
    return float(round(generator.uniform(1.0, 9.0), 6))
