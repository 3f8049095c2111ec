"""The corpus of hostile files: each ends as index.txt says, in words, in time, and leaves nothing.

index.txt has a line for every file: its name, the exit status, and what it attacks.  0 is for what
is harmless after all, 3 for an answer that is wrong.  `tests.hostile.trying` says how they are run;
MuJoCo reads those of mjcf/ in a process of its own."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from symgen.cli import run
from symgen.description import read
from symgen.errors import MOST_LISTED, ModelError
from tests.choosing import deep, one_in, slow
from tests.hostile.enormous import ENORMOUS, LARGE_MJCF, joints, sdf, urdf
from tests.hostile.mutating import HERE, KINDS, ROOT, make
from tests.hostile.trying import CORPUS, TARGET, file_of, makers
from tests.support.commands import printed_by

LONGEST = 4000
"""Characters of a line, which may list forty names that were changed."""
MOST_KIB = 512 * 1024
"""Memory that the process which reads a file may have taken at most."""
INPUTS = 300
"""Of the fuzzer."""


def printed(module: str, *arguments: str) -> str:
    """What a module of this folder prints, in a process of its own that ends well."""
    command = (sys.executable, "-B", "-m", f"tests.hostile.{module}", *arguments)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return printed_by(*command, cwd=ROOT, env=environment, timeout=900)


def index() -> Mapping[str, tuple[int, str]]:
    """File name -> exit status, and what it attacks."""
    lines = (CORPUS / "index.txt").read_text().splitlines()
    rows = (line.split(" | ", maxsplit=2) for line in lines if not line.startswith("#"))
    return {name: (int(status), attack) for name, status, attack in rows}


INDEX = index()


def results(part: str, folder: Path) -> Mapping[str, dict[str, Any]]:
    """What becomes of every file of a part of the corpus."""
    found: Mapping[str, dict[str, Any]] = json.loads(printed("trying", str(folder), part))
    assert sorted(path.name for path in folder.iterdir()) == ["pendulum.yaml"]
    return found


STEPS = {"answer": 4, "model": 4}
"""Of the largest parts, all of which is deep: one file in so many is slow."""


@pytest.mark.parametrize(
    "part", [*slow(*(f"{kind}:{STEPS.get(kind, 1)}" for kind in KINDS)), *deep(*STEPS, "enormous")]
)
def test_hostile_files_end_in_words_and_leave_nothing(part: str, tmp_path: Path) -> None:
    found = results(part, tmp_path)
    assert set(found) == set(makers(part))
    complaints = {name: _complaint(name, result) for name, result in found.items()}
    assert {name: words for name, words in complaints.items() if words} == {}


def _complaint(name: str, result: Mapping[str, Any]) -> str:
    """What is not as it should be; "" where all is well."""
    (expected, attack), said, status = INDEX[name], result["said"], result["status"]
    if status != expected:
        return f"{attack}: status {status}, not {expected}: {said[-1000:]}"
    is_converted = expected == 0 and name.split("/")[0] not in ("answer", "enormous")
    if result["left"] != ([TARGET] if is_converted else []):
        return f"left {result['left']}"
    if "Traceback" in said or "fault of symgen" in said:
        return said
    if result["peak_kib"] > MOST_KIB:
        return f"took {result['peak_kib']} KiB"
    lines = said.removeprefix("grade ...\n").splitlines()
    if len(lines) > MOST_LISTED + 10 or not all(_is_readable(line) for line in lines):
        return f"too long, or not to be printed: {said[:2000]!r}"
    place = rf"{re.escape(file_of(name))}(:[1-9][0-9]*)?: |line [1-9]|and [0-9]+ more"
    is_placed = bool(lines) and all(re.match(place, line) for line in lines)
    return f"without a place: {lines}" if expected == 2 and not is_placed else ""


def _is_readable(line: str) -> bool:
    return line.isprintable() and len(line) <= LONGEST


def test_there_are_enough_and_each_says_what_it_attacks() -> None:
    files = [f"{path.parent.name}/{path.name}" for path in CORPUS.glob("*/*")]
    enormous = [f"enormous/{name}" for name in (*ENORMOUS, *LARGE_MJCF)]
    assert sorted(INDEX) == sorted([*files, *enormous])
    assert len(files) >= 200
    assert all(attack for _, attack in INDEX.values())


LONG = "x" * 70  # too long for a search of what it may mean, which has a limit of its own


@pytest.mark.parametrize(("suffix", "content"), [
    ("sdf", lambda count: sdf(count, lambda k: "", parent=f"l{{}}{LONG}")),
    *slow(
        (
            "sdf",
            lambda n: sdf(n, lambda k: f'<pose relative_to="{LONG}">1 0 0 0 0 0</pose>'),
        )
    ),
    ("urdf", lambda count: urdf(count, lambda k: 10**70 + k)),
    *deep(("yaml", lambda count: joints(count, lambda k: LONG))),
], ids=["links", "poses", "parents", "joints"])  # fmt: skip
def test_work_grows_as_the_number_of_faults(
    suffix: str, content: Callable[[int], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"robot.{suffix}"

    def calls(count: int) -> int:
        path.write_bytes(content(count))
        found = 0

        def heard(frame: Any, event: str, argument: Any) -> None:
            nonlocal found
            found += event in ("call", "c_call")

        sys.setprofile(heard)
        try:
            with pytest.raises(ModelError):
                read(path)
        finally:
            sys.setprofile(None)
        return found

    calls(300)  # imports
    assert calls(1200) < 3.0 * calls(600)


def test_nothing_of_it_is_larger_than_it_need_be() -> None:
    assert max(path.stat().st_size for path in Path(HERE).rglob("*")) < 100_000


MJCF = {path.name: path.read_bytes for path in sorted((HERE / "mjcf").iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*one_in(7, MJCF), *deep(*LARGE_MJCF)])
def test_mjcf_ends_in_words_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    make = LARGE_MJCF.get(name) or MJCF[name]
    (tmp_path / name).write_bytes(make())
    monkeypatch.chdir(tmp_path)
    status = run(["convert", name, "out.yaml"])
    said = capfd.readouterr().err
    assert status in ((INDEX[f"enormous/{name}"][0],) if name in LARGE_MJCF else (0, 2)), said
    assert sorted(os.listdir()) == sorted([name, *(["out.yaml"] if status == 0 else [])])
    assert "Traceback" not in said and max(map(len, said.splitlines()), default=0) < LONGEST


@pytest.mark.slow
def test_hundreds_of_inputs_are_read_or_refused(tmp_path: Path) -> None:
    """Of the fuzzer; all of them by ``python -m tests.hostile.fuzz``."""
    finds = str(tmp_path / "finds")
    done = printed("fuzz", "--seed", "11", "--inputs", str(INPUTS), "--finds", finds)
    assert f"{INPUTS} inputs" in done
    assert "0 kinds of finds" in done


def test_an_input_depends_on_its_number_alone() -> None:
    inputs, again = ([make(3, number) for number in range(200)] for _ in range(2))
    assert inputs == again
    assert {given.kind for given in inputs} == set(KINDS)
    assert len({given.content for given in inputs}) > 190
