"""A script of examples that lacks a library ends with one line, which says what to install."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("script", "missing"),
    [
        ("double_pendulum_sensitivity", "scipy"),
        ("double_pendulum_sensitivity", "matplotlib"),
        ("double_pendulum_sensitivity", "xarray"),
        ("human43_sensitivities", "scipy"),
    ],
)
def test_a_missing_library_ends_with_one_line(script, missing, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert missing in line and line.endswith(": install with `pip install '.[examples]'`")
