"""The same source and metadata for any hash seed, locale, time zone, folder, number of cores."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
MADE = Path(__file__).with_name("made.py")
MACHINE_FILES = {"binaries.json", "build.json"}

URDF = """\
<robot name="gantry">
  <link name="rail"/><link name="träger"><inertial><origin rpy="0.1 0.2 0.3" xyz="0.1 0 0"/>
    <mass value="2.5"/><inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0.01" ixz="0" iyz="0"/>
  </inertial></link><link name="hand"><inertial><mass value="0.7"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="träger"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="2"/></joint>
  <joint name="turn" type="revolute"><parent link="träger"/><child link="hand"/>
    <origin xyz="0.1 0.2 0.3" rpy="1.5708 0.3 -0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="2"/></joint>
</robot>
"""


@dataclass(frozen=True)
class Surroundings:
    """What a machine, a user and a shell can differ in; `spoil` changes how the model is written.

    `place` is the working folder, `one_core` leaves one processor, `python` are options of it."""

    place: str
    environment: dict[str, str] = field(default_factory=dict)
    python: tuple[str, ...] = ()
    one_core: bool = False
    umask: int = 0o022
    spoil: str = ""
    reached: str = "relative"

    def run(self, folder, arguments):
        """What a program of Python prints here; its folders are below `folder`."""
        own = {name: str(folder / f"{name} of {self.place}") for name in ("TMPDIR", "HOME")}
        for path in own.values():
            Path(path).mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "COL"))}
        kept = {**kept, "PYTHONPATH": str(ROOT)}
        kept.pop("PYTHONHASHSEED", None)
        done = subprocess.run(
            [sys.executable, *self.python, *arguments],
            cwd=folder / self.place,
            env=kept | own | self.environment | self._locales(folder),
            capture_output=True,
            preexec_fn=self._prepare,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    def _locales(self, folder):
        """The variable that leads to this locale, which few machines have installed."""
        name = self.environment.get("LC_ALL", "C")
        tool = shutil.which("localedef")
        place = folder / "locales" / name
        if name != "C" and tool is not None and not place.exists():
            place.parent.mkdir(exist_ok=True)
            language, _, encoding = name.partition(".")
            charmap = "UTF-8" if encoding else "ISO-8859-1"
            command = [tool, "-i", language, "-f", charmap, str(place)]
            subprocess.run(command, capture_output=True)  # in vain where it has no sources
        return {"LOCPATH": str(place.parent)} if place.is_dir() else {}

    def _prepare(self):
        os.umask(self.umask)
        if self.one_core and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def puts(self, folder, source):
        place = folder / self.place
        text = source.read_text(encoding="utf-8")
        model = place / source.name
        if self.spoil == "comments":  # the lines move, the meaning does not
            text = text.replace("\njoints:", "\n\n# The joints, from the base on.\njoints:  \n", 1)
        content = text.encode("utf-8")
        if self.spoil == "windows":
            content = b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")
        if self.reached == "link":
            kept = place / "elsewhere"
            kept.mkdir(exist_ok=True)
            (kept / source.name).write_bytes(content)
            model.symlink_to(Path("elsewhere") / source.name)
        else:
            model.write_bytes(content)
        return str(model) if self.reached == "absolute" else source.name


HERE = Surroundings("here", {"PYTHONHASHSEED": "0"})
THERE = Surroundings(
    "là bas, 你好",
    {
        "PYTHONHASHSEED": "4711",
        "LC_ALL": "de_DE",  # ISO-8859-1 and a decimal comma
        "TZ": "Asia/Kathmandu",
        "PYTHONUTF8": "0",
        "COLUMNS": "40",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3",
    },
    python=("-O",),
    one_core=True,
    umask=0o077,
    spoil="windows",
    reached="absolute",
)
ELSEWHERE = (
    Surroundings(
        "a folder",
        {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.utf8", "TZ": "Pacific/Apia"},
        spoil="comments",
        reached="link",
    ),
    Surroundings("C", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, ("-O",)),
    Surroundings("arabic", {"LC_ALL": "ar_EG.utf8", "COLUMNS": "400", "PYTHONUTF8": "1"}),
    Surroundings("alone", {"PYTHONHASHSEED": "1"}, one_core=True),
)

QUICK = (
    "parameters:double_pendulum.yaml", "convert:gantry.urdf", "convert:two_link.yaml", "new:arm",
    "show:cart_pole.yaml",
)  # fmt: skip
THOROUGH = (
    "all:satellite_arm.yaml", "sources:tree12.yaml", "parameters:arm7.yaml", "loops:arm7.yaml",
    "report:cart_pole.yaml", "growth:planar",
)  # fmt: skip

READ = ("sources:gantry.urdf", "read:gantry.urdf")


def model_of(task):
    name = task.partition(":")[2]
    return name if name.endswith((".yaml", ".urdf")) else None


def made(folder, surroundings, tasks):
    (folder / "gantry.urdf").write_text(URDF, encoding="utf-8")
    models = dict.fromkeys(name for name in map(model_of, tasks) if name)
    (folder / surroundings.place).mkdir()
    for name in models:
        source = folder / name if name == "gantry.urdf" else EXAMPLES / name
        models[name] = surroundings.puts(folder, source)
    words = []
    for task in tasks:
        name = model_of(task)
        words.append(f"{task.removesuffix(name)}{models[name]}" if name else task)
    out = surroundings.run(folder, [str(MADE), *words])
    return dict(zip(tasks, json.loads(out.splitlines()[-1]), strict=True))


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return made(tmp_path_factory.mktemp("here"), HERE, (*QUICK, *READ))


def test_the_same_is_made_here_and_there(here, tmp_path):
    there = made(tmp_path, THERE, (*QUICK, "decimal:1.5"))
    comma = there.pop("decimal:1.5")
    assert there == {task: here[task] for task in QUICK}
    if not (tmp_path / "locales").is_dir() or not any((tmp_path / "locales").iterdir()):
        pytest.skip("localedef, or what it makes locales from, is not installed")
    assert comma == "1,5"


def test_other_processors_read_alike(here, tmp_path):
    """Libraries that multiply matrices round as the processor likes; what is read does not."""
    old = Surroundings("old", {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "FMA3"})
    assert made(tmp_path, old, READ) == {task: here[task] for task in READ}


@pytest.mark.deep
def test_everything_is_the_same_everywhere(tmp_path):
    tasks = (*QUICK, *THOROUGH)
    wanted = made(tmp_path, HERE, tasks)
    for there in (THERE, *ELSEWHERE):
        assert made(tmp_path, there, tasks) == wanted, there.place


def test_the_committed_package_is_what_is_generated_today(tmp_path):
    from symgen.cli import run

    assert run(["build", str(EXAMPLES / "two_link.yaml"), "-q", "--out", str(tmp_path)]) == 0
    committed = ROOT / "generated" / "two_link"
    fresh = tmp_path / "two_link"
    files = {
        path.relative_to(fresh)
        for path in fresh.rglob("*")
        if path.is_file() and path.suffix != ".so" and path.name not in MACHINE_FILES
    }
    for file in sorted(files):
        assert (committed / file).read_bytes() == (fresh / file).read_bytes(), (
            f"{file} differs; run: symgen build examples/two_link.yaml"
        )
