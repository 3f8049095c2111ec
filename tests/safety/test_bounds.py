"""Nothing is read or written out of bounds by kernels: arrays end where memory ends."""

import sys

import pytest

from symgen.options import BuildOptions
from symgen.toolchain.compiler import find_compiler
from tests.safety.building import EXAMPLES, always_streaming, bundle_of, put, python, report

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pages are those of Linux")

FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics", "forward_kinematics")


@pytest.mark.slow
def test_kernels_stay_within_their_arrays(tmp_path):
    options = BuildOptions(
        formulations=("newton_euler",), functions=FUNCTIONS, runtime_parameters=("all",)
    )
    said = exercised(EXAMPLES / "two_link.yaml", options, tmp_path)
    assert said["calls"] > 1000 and "compiled 1" in said["kinds"]


@pytest.mark.deep
def test_streams_stay_within_their_arrays(tmp_path):
    options = BuildOptions(formulations=("composite",), functions=FUNCTIONS[:1], form="straight")
    assert exercised(EXAMPLES / "tree12.yaml", options, tmp_path, always_streaming)["calls"] > 100


def exercised(model, options, folder, change=None):
    bundle = bundle_of(model, options, ("compiled", "numpy"))
    package = put(bundle, folder, find_compiler(), change)
    return report(python("-m", "tests.safety.exercise", str(package), "pages"))
