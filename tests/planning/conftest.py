"""The robot that most of these tests plan for."""

import pytest
import scipy.integrate  # noqa: F401

import symgen.planning.plan  # here, where their seconds are no test's  # noqa: F401
from tests.planning import robots


@pytest.fixture
def robot():
    return robots.arm()
