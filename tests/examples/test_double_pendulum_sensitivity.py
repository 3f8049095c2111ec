"""The script on the double pendulum: its methods agree, and the paper's example comes out."""

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
def test_the_example_of_the_paper(tmp_path, libraries):
    values = check(run_script(cwd=tmp_path), tmp_path)
    assert tuple(values["recursive"]) == AT_THE_END
    assert tuple(values["traditional"]) == AT_THE_END[1:]
