"""What the pages show is run: their files are written, commands run, printed results compared."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from manual.snippets import PageError, blocks, perform

ROOT = Path(__file__).parents[2]
MORE = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "simulation.md"]
PAGES = sorted([*MORE, *(ROOT / "docs" / "how_to").glob("*.md")])
NEEDS = {
    "casadi": "casadi", "dask": "dask", "scipy": "scipy", "tutorial": "xarray",
    "simulation": "xarray", "free_bodies": "xarray", "plan": "casadi", "jax_and_pytorch": "jax",
}  # fmt: skip
"""By the name of a page: the library without which it cannot be run."""
DEEP = {
    "batches", "bring_your_robot", "build", "casadi", "closed_loops", "dask", "exercises",
    "free_bodies", "jax_and_pytorch", "loads", "parameters", "plan", "products", "simulation",
    "templates",
}  # fmt: skip
"""Dear pages, whose subject other tests of the second part try."""
RUN = [
    pytest.param(page, id=page.stem, marks=getattr(pytest.mark, tier))
    for page in PAGES
    for tier in ["deep" if page.stem in DEEP else "slow"]
]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder in which `symgen` and `python` are commands."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, more in (("symgen", "-m $QUICKLY symgen.__main__ "), ("python", "")):
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {more}"$@"\n')
        command.chmod(0o755)
    paths = [str(commands), *os.environ["PATH"].split(os.pathsep)]
    monkeypatch.setenv("PATH", os.pathsep.join(paths))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("page", RUN)
def test_what_a_page_shows(page, empty):
    needed = NEEDS.get(page.stem)
    if needed and find_spec(needed) is None:
        pytest.skip(f"needs {needed}: pip install 'symgen[test]'")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("needs a C compiler")
    if page.stem in ("simulation", "closed_loops"):  # they speak of models of the repository
        shutil.copytree(ROOT / "examples", "examples")
    perform_alone(page, ["tests.docs.quickly"] if page.stem == "tutorial" else [])


def perform_alone(page, quickly=()):
    """Run the blocks of a page in a process of its own: what it imports is what it built."""
    command = [sys.executable, "-m", *quickly, "manual.snippets", str(page)]
    environment = {**os.environ, "QUICKLY": "".join(quickly)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_what_it_shows(page):
    shown = blocks(page.read_text())
    assert any(block.runs for block in shown)
    left_out = [block.text for block in shown if "not run" in block.marks]
    named = ("pip install", "symgen report", "--install", "import torch", "panda.urdf")
    assert all(any(name in text for name in named) for text in left_out)


PAGE = """
```yaml title="folder/robot.yaml"
symgen: 1
```

```sh
cat folder/robot.yaml; echo much
```

```text
symgen: ...
much
```

```python
a = 2
```

```python
print(f"a   is {a}")
```

```text
a is 2
```

<!-- exit: 3 -->
```sh
exit 3
```

<!-- not run: it is a picture -->
```sh
exit 4
```
"""


def test_how_a_page_is_run(empty):
    (empty / "page.md").write_text(PAGE)
    assert perform(empty / "page.md") == 4


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("a is 2", "a is 3", "page.md:19: the page shows"),
        ("exit: 3", "exit: 2", "page.md:28: ended with 3, not 2"),
        ("a = 2", "a = 1/0", "page.md:15: .*ZeroDivisionError"),
        ("echo much", "false", "page.md:6: ended with 1, not 0"),
    ],
)
def test_what_differs_is_found(right, wrong, words, empty):
    (empty / "page.md").write_text(PAGE.replace(right, wrong, 1))
    with pytest.raises(PageError, match=f"(?s){words}"):
        perform(empty / "page.md")


def test_a_block_must_end():
    with pytest.raises(ValueError, match="line 2: the block does not end"):
        blocks("\n```sh\necho\n")


@pytest.mark.deep
def test_the_first_minute_of_the_readme(empty):
    """Its file, every command, and what they print."""
    perform_alone(ROOT / "README.md")
    assert (empty / "generated" / "arm").is_dir()
    assert (empty / "arm.html").is_file()
