"""The notebook on optimal motions: valid, without results, and it runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = EXAMPLES / "plan_two_link.ipynb"


def test_it_is_valid_and_holds_no_results():
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat: pip install 'symgen[test]'")
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    assert all(cell.get("outputs", []) == [] for cell in book.cells)


@pytest.mark.deep
def test_it_runs(monkeypatch):
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'symgen[test]'")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    times = [line.split("T = ")[1].split()[0] for line in done.stdout.splitlines()[:2]]
    assert times == ["0.392659", "0.393140"]
