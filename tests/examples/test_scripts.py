"""Scripts of examples: their help, and the line that says what to install."""

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


@pytest.mark.slow
@pytest.mark.parametrize("script", ["double_pendulum_sensitivity", "human43_sensitivities"])
def test_help_names_the_folder_of_the_figures(script, monkeypatch, capsys):
    for library in ("matplotlib", "xarray", "scipy.differentiate"):
        pytest.importorskip(library)
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert f"(default: {script})" in capsys.readouterr().out
