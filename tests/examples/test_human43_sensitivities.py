"""The script on the human's sensitivities: its methods agree, its spikes are where they must be."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "human43_sensitivities.py"

pytest.importorskip("matplotlib")
pytest.importorskip("scipy.differentiate", reason="scipy 1.15 or newer")


@pytest.mark.slow
def test_the_script_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    errors = {
        name.strip(): [float(x) for x in rest.split()[:3]]
        for name, rest in re.findall(
            r"^(complex step|differences, .*? steps) +(.*)$", done.stdout, re.M
        )
    }
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
