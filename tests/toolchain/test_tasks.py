import sys
from dataclasses import replace

import pytest

from symgen.toolchain.cache import Cache
from symgen.toolchain.tasks import Task, run_tasks


def _task(name, *needs):
    """Writes the file `name` and appends its name to the file "order"."""
    program = f"open({name!r}, 'w').close(); open('order', 'a').write({name!r})"
    return Task("c", name, (sys.executable, "-S", "-c", program), name, needs)


@pytest.mark.parametrize(
    ("tasks", "order"),
    [
        pytest.param((_task("a"), _task("b"), _task("c")), "abc", id="as they come"),
        pytest.param((_task("a"), _task("b", "a"), _task("c")), "abc", id="as soon as it can"),
        pytest.param((_task("a", "c"), _task("b"), _task("c")), "bca", id="not before"),
    ],
)
def test_the_first_that_can_start_does(tasks, order, tmp_path):
    run_tasks(tasks, tmp_path, {}, jobs=1)

    assert (tmp_path / "order").read_text() == order


def test_what_another_build_has_made_meanwhile_is_taken(tmp_path):
    """It is looked for when its turn comes, not before."""
    other, own, cache = tmp_path / "other", tmp_path / "own", Cache(tmp_path / "cache")
    for folder in (other, own, cache.folder):
        folder.mkdir()
    shared = replace(_task("shared"), kept_under="0" * 64)
    meanwhile = f"import os; os.chdir({str(other)!r}); open('done', 'w').close()"
    first = Task("c", "first", (sys.executable, "-S", "-c", meanwhile), "../other/done")
    reports = []

    def report(*said):
        if not (other / "shared").exists():
            run_tasks((shared,), other, {}, jobs=1, cache=cache)
        reports.append(said)

    run_tasks((first, shared), own, {}, jobs=1, progress=report, cache=cache)

    assert (own / "shared").exists()
    assert not (own / "order").exists()
    assert reports == [("c", 1, 2)]
