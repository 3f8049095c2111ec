import sys
from pathlib import Path

import pytest

from symgen.toolchain.processes import CommandFailedError
from symgen.toolchain.tasks import Task, run_tasks


def _task(name: str, *needs: str) -> Task:
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
def test_the_first_that_can_start_does(tasks: tuple[Task, ...], order: str, tmp_path: Path) -> None:
    run_tasks(tasks, tmp_path, {}, jobs=1)

    assert (tmp_path / "order").read_text() == order


def test_a_command_that_makes_nothing_has_failed(tmp_path: Path) -> None:
    command = (sys.executable, "-S", "-c", "print('all is well')")
    with pytest.raises(CommandFailedError) as caught:
        run_tasks((Task("c", "compilation of a.c", command, "a.o"),), tmp_path, {}, jobs=1)
    said = str(caught.value)
    assert "compilation of a.c failed (exit status 0, but there is no a.o)" in said
    assert "all is well" in said
    assert "install" in said
