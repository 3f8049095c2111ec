"""What the pages show is run, and compared; in the built site links lead somewhere.

Files of a page are written, its commands run, and printed results compared.  The site loads nothing
from elsewhere, and has formulas."""

import os
import re
import shutil
import sys
from importlib.util import find_spec

import pytest

from manual.links import broken, faults
from manual.snippets import PageError, blocks, perform
from tests.modules import ROOT
from tests.support.commands import printed_by

MORE = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "simulation.md"]
PAGES = sorted([*MORE, *(ROOT / "docs" / "how_to").glob("*.md")])
NEEDS = {
    "casadi": "casadi", "dask": "dask", "scipy": "scipy", "tutorial": "xarray",
    "simulation": "xarray", "equilibrium": "xarray",
    "free_bodies": "xarray", "plan": "casadi", "jax_and_pytorch": "jax",
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
    if page.stem in ("simulation", "closed_loops", "plan"):  # they speak of examples
        shutil.copytree(ROOT / "examples", "examples")
    perform_alone(page, ["tests.docs.quickly"] if page.stem == "tutorial" else [])


def perform_alone(page, quickly=()):
    """Run the blocks of a page in a process of its own: what it imports is what it built."""
    environment = {**os.environ, "QUICKLY": "".join(quickly)}
    printed_by(sys.executable, "-m", *quickly, "manual.snippets", page, env=environment)


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


@pytest.mark.parametrize(("right", "wrong", "words"), [
    ("a is 2", "a is 3", "page.md:19: the page shows"),
    ("exit: 3", "exit: 2", "page.md:28: ended with 3, not 2"),
    ("a = 2", "a = 1/0", "page.md:15: .*ZeroDivisionError"),
    ("echo much", "false", "page.md:6: ended with 1, not 0"),
])  # fmt: skip
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


# ------------------------------------------------------------------------- the built site

MISSING = [
    name for name in ("sphinx", "myst_parser", "furo", "latex2mathml") if not find_spec(name)
]
MARKDOWN = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if MISSING:
        pytest.skip(f"needs {', '.join(MISSING)}: pip install 'symgen[docs]'")
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", f"{folder}-trees"]
    printed_by(sys.executable, "-m", "sphinx", *options, "docs", folder, cwd=ROOT)
    return folder


@pytest.mark.deep
def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert list(faults(site.resolve())) == []


@pytest.mark.deep
def test_stylesheets_and_scripts_ask_nobody(site):
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(https?:)?//", path.read_text()), path
        assert not re.search(r"@import\s+[\"']?(url\()?[\"']?https?:", path.read_text()), path


@pytest.mark.deep
def test_formulas_are_mathml(site):
    page = (site / "theory" / "newton_euler.html").read_text()
    assert page.count("<math ") > 30
    assert "$" not in re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.deep
def test_tables_are_made(site):
    for path in site.rglob("*.html"):
        page = path.read_text()
        assert "<!-- made" not in page
        assert "system-message" not in page, path
    page = (site / "theory" / "kane.html").read_text()
    assert "partial velocity of body k by qd_k" in page
    assert "Anderson, Hsu 2002 (57)" in page


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.name)
def test_links_as_they_are_on_disk(page):
    assert broken(page) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n[a](#a-title) [b](#b) [c](page.md) [d](no.md) `[e](no.md)`\n")
    assert broken(page) == ["#b", "no.md"]
    (tmp_path / "index.html").write_text(
        '<a href="#here">a</a><h1 id="there"></h1><a href="#there">b</a><a href="no.html">c</a>'
        '<img src="https://example.org/a.png"><a href="https://example.org">d</a>'
    )
    assert list(faults(tmp_path)) == [
        "index.html: #here: there is no such heading",
        "index.html: no.html: there is no such file",
        "index.html loads https://example.org/a.png",
    ]
