"""What `--slow-until` leaves out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

def test_quick():
    pass

@pytest.mark.slow
def test_long():
    pass
"""


@pytest.mark.parametrize(("minutes", "closing"), [("0", "1 passed, 1 skipped"), ("60", "2 passed")])
def test_slow_tests_are_skipped_when_their_time_is_over(tmp_path, minutes, closing):
    (tmp_path / "test_two.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.slow_tests", "--slow-until", minutes]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert closing in done.stdout
