"""The script on the double pendulum: its methods agree, and the paper's example comes out."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "double_pendulum_sensitivity.py"
FIGURE = Path("double_pendulum_sensitivity") / "figures4to7.png"
# at 20 s: kinetic energy, and its derivatives by L1, L2, M_P, M_Q
AT_THE_END = ("2.541083950", "75.367716", "83.273340", "-17.339427", "19.880511")


def run_script(*arguments, cwd):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def libraries():
    for library in ("matplotlib", "scipy", "xarray"):
        pytest.importorskip(library)


def tables(text):
    """By method: the values at the end, and the largest differences from the recursion."""
    rows = re.findall(r"^(recursive|traditional|one-sided .*?|central .*?)  +(\S.*\d)$", text, re.M)
    values, differences = {}, {}
    for name, numbers in rows:
        table = values if name not in values else differences
        table[name.strip()] = numbers.split()
    return values, {name: [float(x) for x in row] for name, row in differences.items()}


def check(done, folder):
    """What holds for any length of the motion; the values at the end."""
    assert done.returncode == 0, done.stderr
    values, differences = tables(done.stdout)
    assert set(differences) == {"traditional", "one-sided differences", "central differences"}
    assert max(differences["traditional"]) < 1e-10
    one_sided, central = (differences[f"{x} differences"] for x in ("one-sided", "central"))
    assert all(1e-7 < x < 1 for x in one_sided)
    assert all(1e-11 < y < x / 50 for x, y in zip(one_sided, central, strict=True))
    errors = re.findall(r"^  sum ([ML]) .*? (\S+) J$", done.stdout, re.M)
    assert [name for name, _ in errors] == ["M", "L"]
    assert max(float(error) for _, error in errors) < 1e-9
    assert (folder / FIGURE).stat().st_size > 50_000
    return values


@pytest.mark.deep
def test_the_quick_script_runs(tmp_path, libraries):
    done = run_script("--quick", cwd=tmp_path)
    check(done, tmp_path)
    assert "double_pendulum: 2 s, tolerance 1e-13, numpy backend" in done.stdout


@pytest.mark.deep
def test_the_example_of_the_paper(tmp_path, libraries):
    values = check(run_script(cwd=tmp_path), tmp_path)
    assert tuple(values["recursive"]) == AT_THE_END
    assert tuple(values["traditional"]) == AT_THE_END[1:]


@pytest.mark.slow
def test_help_names_the_folder_of_the_figure(tmp_path, libraries):
    assert "(default: double_pendulum_sensitivity)" in run_script("--help", cwd=tmp_path).stdout


@pytest.mark.deep
def test_figures_say_what_they_show(tmp_path, libraries, monkeypatch):
    spec = importlib.util.spec_from_file_location("double_pendulum_sensitivity", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script.plt, "close", lambda figure: None)
    t, exact = script.np.linspace(0, 1, 21), script.np.ones((21, 4))
    others = {name: exact + 1e-3 * k for k, name in enumerate(script.STYLES)}
    script.plot(tmp_path / "4.png", t, exact, others)
    left, right = script.plt.gcf().axes[4:6]
    assert left.get_title() == r"d KE / d$\,M_P$ (the paper's figure 6)"
    assert left.get_ylabel() == right.get_ylabel() == "J/kg"
    assert right.get_title() == "|difference from the recursive method|, steps 5e-04"
    shown = [max(line.get_ydata()) for line in right.get_lines()[1:]]
    assert shown == pytest.approx([1e-3, 2e-3])
