"""The built site: links lead somewhere, nothing is loaded from elsewhere, formulas are there."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from manual.links import broken, faults

ROOT = Path(__file__).parents[2]
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
    command = [sys.executable, "-m", "sphinx", *options, "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
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
