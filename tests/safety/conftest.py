"""The package that programs of these tests import."""

import pytest

from symgen.options import BuildOptions
from symgen.toolchain.compiler import find_compiler
from tests.safety.building import EXAMPLES, bundle_of, put

FUNCTIONS = ("inverse_dynamics_derivatives", "mass_matrix", "kinetic_energy")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    options = BuildOptions(formulations=("newton_euler",), functions=FUNCTIONS)
    bundle = bundle_of(EXAMPLES / "two_link.yaml", options, ("compiled", "cython", "numpy"))
    return put(bundle, tmp_path_factory.mktemp("processes"), find_compiler()).parent
