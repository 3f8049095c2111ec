"""The script on the human's sensitivities: its methods agree, its spikes are where they must be."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "human43_sensitivities.py"


def run_script(*arguments, cwd):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def libraries():
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy.differentiate", reason="scipy 1.15 or newer")


@pytest.mark.deep
def test_the_script_runs(tmp_path, libraries):
    done = run_script("--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {
        name.strip(): rest.split()
        for name, rest in re.findall(
            r"^(analytic, .*?|complex step|differences, .*? steps)  +(.*)$", done.stdout, re.M
        )
    }
    errors = {name: [float(x) for x in row[:3]] for name, row in rows.items() if row[0] != "-"}
    assert max(errors["complex step"]) < 1e-12
    assert max(errors["differences, fixed steps"]) < 1e-9
    # the coordinates and accelerations are 1e-16 at t = 0.5, 1, ..., and exactly 0 at t = 0
    assert min(errors["differences, proportional steps"][::2]) > 0.01
    fixed, proportional = done.stdout.split("spikes of the differences")[1:]
    assert "none" in fixed
    instants = re.findall(r"t = (\S+)  d tau / d (\S+)", proportional)
    assert instants == [
        (t, x) for x in ("q", "qdd") for t in ("0.50", "1.00", "1.50", "2.00", "2.50", "3.00")
    ]
    for number in (4, 5, 6):
        assert (tmp_path / "human43_sensitivities" / f"figure{number}.png").stat().st_size > 10_000
    # times per instant, of arrays allocated and of arrays given; nothing in seconds of other runs
    milliseconds = {name: float(row[3]) for name, row in rows.items()}
    assert {"analytic, new arrays", "analytic, arrays re-used (out=)"} < set(milliseconds)
    ratio = float(re.search(r"^  fixed steps +(\S+)$", done.stdout, re.M)[1])
    quotient = (
        milliseconds["differences, fixed steps"] / milliseconds["analytic, arrays re-used (out=)"]
    )
    assert ratio == pytest.approx(quotient, rel=0.02)
    assert "mean of 31 instants, numpy backend" in done.stdout
    assert "0.0166" not in done.stdout
    assert "8.7e+05 / 0.055 ms per instant" in done.stdout
