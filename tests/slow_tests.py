"""How long a run goes on starting slow tests: `--slow-until MINUTES`, as `.ci/run` says it.

Tests that are not slow are always run.  A machine too weak for all the others skips those that are
left when the time is over, and the summary counts them.  So that it is not always the same ones,
files come in an order that each commit shuffles anew.
"""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

OUT_OF_TIME = "no time was left for slow tests (--slow-until)"
BEGAN = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.addoption(
        "--slow-until",
        type=float,
        metavar="MINUTES",
        help="start no slow test later than this; pytest-xdist: with --no-loadscope-reorder",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note when the run began."""
    config.stash[BEGAN] = time.monotonic()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the files where time may run out, the same in every worker."""
    if config.getoption("slow_until") is None:
        return
    files = sorted({item.path for item in items})
    random.Random(_commit(config.rootpath)).shuffle(files)
    place = {file: number for number, file in enumerate(files)}
    items.sort(key=lambda item: place[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a slow test for which it is too late."""
    minutes = item.config.getoption("slow_until")
    if minutes is None or item.get_closest_marker("slow") is None:
        return
    if time.monotonic() - item.config.stash[BEGAN] > 60 * minutes:
        pytest.skip(OUT_OF_TIME)


def _commit(folder: Path) -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()
