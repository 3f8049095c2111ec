"""Nothing is read or written out of bounds: arrays end where memory ends.

The kernels run as they are delivered, without a sanitizer, on arrays that end at a page that nobody
may touch.  `test_sanitizers` shows that faults put in on purpose are found.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from symgen.emit.bundle import SourceBundle
from symgen.options import BuildOptions
from symgen.toolchain.compiler import Compiler, CompilerMissingError, find_compiler
from tests.safety.building import EXAMPLES, always_streaming, bundle_of, put, python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pages are those of Linux")

FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics", "forward_kinematics")


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    try:
        return find_compiler()
    except CompilerMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def bundle() -> SourceBundle:
    options = BuildOptions(
        formulations=("newton_euler",), functions=FUNCTIONS, runtime_parameters=("all",)
    )
    return bundle_of(EXAMPLES / "two_link.yaml", options, ("compiled", "numpy"))


@pytest.mark.slow
def test_kernels_stay_within_their_arrays(
    bundle: SourceBundle, compiler: Compiler, tmp_path: Path
) -> None:
    folder = put(bundle, tmp_path, compiler)
    done = python("-m", "tests.safety.exercise", str(folder), "pages")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["calls"] > 1000 and "compiled 1" in report["kinds"]


@pytest.mark.deep
def test_streams_stay_within_their_arrays(compiler: Compiler, tmp_path: Path) -> None:
    options = BuildOptions(formulations=("composite",), functions=FUNCTIONS[:1], form="straight")
    bundle = bundle_of(EXAMPLES / "tree12.yaml", options, ("compiled", "numpy"))
    folder = put(bundle, tmp_path, compiler, always_streaming)
    done = python("-m", "tests.safety.exercise", str(folder), "pages")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["calls"] > 100
