"""Builds that are killed leave a package that imports, and nothing else.

The full campaign: ``python -m tests.dependability.killing --builds 300``.
"""

import sys
from pathlib import Path

import pytest

from tests.dependability.killing import campaign

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc of Linux")


@pytest.mark.deep  # installations alone: tests/toolchain/test_install.py
@pytest.mark.parametrize("builds", [60])
def test_the_package_imports_whatever_happens(tmp_path, builds):
    done = campaign(tmp_path, builds, seed=builds)
    assert sum(done.outcomes.values()) >= builds
    print(done.outcomes, file=sys.stderr)
