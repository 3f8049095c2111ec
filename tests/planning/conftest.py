"""The robot that most of these tests plan for."""

import pytest

import symgen.planning.plan  # here, where its seconds are no test's  # noqa: F401
from tests.planning import robots


@pytest.fixture
def robot():
    return robots.arm()
