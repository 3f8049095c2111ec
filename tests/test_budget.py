"""What `--builds` measures, prints and fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.budget import Budget

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
TESTS = """
import time

import pytest

def work():
    for _ in range(20_000_000):
        pass

made = []

def test_first():
    end = time.process_time() + 0.05
    while not made and time.process_time() < end:
        pass
    made.append(1)

def test_once(tmp_path):
    end = time.process_time() + 0.05
    (tmp_path / "made").mkdir()
    while time.process_time() < end:
        pass

def test_quick():
    pass

def test_dear():
    work()

@pytest.mark.deep
def test_slow():
    work()
"""


def test_a_dear_case_and_a_run_over_its_budget_fail(tmp_path):
    (tmp_path / "test_three.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n slow\n deep\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.budget", "-n", "1", "--builds"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYMGEN_TESTS_UNIT": "1.0"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "1000"], check=False, **options)
    assert done.returncode == 1
    assert "an ordinary case may take 0.03 (3% of a build of arm7.yaml)" in done.stdout
    assert "1 failed, 4 passed" in done.stdout
    assert "processor seconds of 1000, 1000 builds of arm7.yaml of 1.0 s each" in done.stdout
    dearest = done.stdout.split("dearest cases, processor seconds")[1].split("dearest files")[0]
    assert dearest.index("test_dear") > 0 < dearest.index("test_slow")
    over = subprocess.run([*command, "0.1", "-k", "quick"], check=False, **options)
    assert over.returncode == 1
    assert "1 passed" in over.stdout and "OVER THE BUDGET" in over.stdout


def test_every_dear_case_exists_and_has_a_reason():
    for name, reason in Budget(None).dear.items():
        path, case = name.split("::")
        assert isinstance(reason, str) and reason.strip(), name
        assert f"def {case}(" in (ROOT / path).read_text(), name


def test_a_slow_machine_may_take_longer(monkeypatch):
    monkeypatch.setenv("SYMGEN_TESTS_UNIT", "20")
    monkeypatch.setenv("SYMGEN_TESTS_SAMPLE", "0.1")
    budget = Budget(10.0)
    assert budget.budget == 200
    budget.samples = [0.05]
    assert budget.budget == 200
    budget.samples = [0.1, 0.14]
    assert budget.budget == pytest.approx(240)
