"""The robot that most of these tests plan for."""

import pytest

from tests.planning import robots


@pytest.fixture
def robot(tmp_path_factory):
    return robots.arm(tmp_path_factory.getbasetemp())
