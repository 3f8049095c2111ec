"""Nothing is read or written out of bounds: arrays end where memory ends.

The kernels run as they are delivered, without a sanitizer, on arrays that end at a page that nobody
may touch.  That it would be found is shown by faults put in on purpose.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from symgen.emit.bundle import SourceBundle
from symgen.options import BuildOptions
from symgen.toolchain.compiler import Compiler, CompilerMissingError, find_compiler
from tests.safety.building import EXAMPLES, always_streaming, bundle_of, put, python, replaced

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


def test_kernels_stay_within_their_arrays(
    bundle: SourceBundle, compiler: Compiler, tmp_path: Path
) -> None:
    folder = put(bundle, tmp_path, compiler)
    done = python("-m", "tests.safety.exercise", str(folder), "pages")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["calls"] > 1000 and "compiled 1" in report["kinds"]


def test_streams_stay_within_their_arrays(compiler: Compiler, tmp_path: Path) -> None:
    options = BuildOptions(formulations=("composite",), functions=FUNCTIONS[:1], form="straight")
    bundle = bundle_of(EXAMPLES / "tree12.yaml", options, ("compiled", "numpy"))
    folder = put(bundle, tmp_path, compiler, always_streaming)
    done = python("-m", "tests.safety.exercise", str(folder), "pages")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["calls"] > 100


@pytest.mark.deep
@pytest.mark.parametrize(
    ("former", "other"),
    [
        ("k < valid ? k : valid - 1", "k"),  # reads rows that are not there
        ("i + LANES <= size ? i : size - LANES", "i"),  # the last square beyond the row
        ("if (valid < LANES)\n                store_some", "if (0)\n                store_some"),
    ],
    ids=["read rows", "read and write entries", "write rows"],
)
def test_a_step_too_far_is_found(
    bundle: SourceBundle, compiler: Compiler, tmp_path: Path, former: str, other: str
) -> None:
    def change(files: dict[str, str]) -> dict[str, str]:
        text = files["c/symgen-rows.h"]
        assert former in text
        return {**files, "c/symgen-rows.h": text.replace(former, other)}

    folder = put(bundle, tmp_path, compiler, change)
    done = python("-m", "tests.safety.exercise", str(folder), "pages")
    # the C library may find its own memory spoilt, before a fence is reached
    ended = (-signal.SIGSEGV, -signal.SIGABRT)
    assert done.returncode in ended, (done.returncode, done.stderr)


@pytest.mark.deep
def test_a_check_that_is_missing_is_found(compiler: Compiler, tmp_path: Path) -> None:
    """Arrays of another number of samples than that of the first one."""
    options = BuildOptions(formulations=("newton_euler",), functions=("bias_forces",))
    bundle = bundle_of(EXAMPLES / "two_link.yaml", options, ("compiled", "numpy"))
    change = replaced(
        "c/python/symgen-calls.c",
        "        if (PyArray_DIMS(given)[axis] != batch->shape[axis]) return 0;\n",
        "        continue;\n",
    )
    folder = put(bundle, tmp_path, compiler, change)
    program = (
        "import sys; from pathlib import Path\n"
        "import numpy as np\n"
        "from symgen.toolchain.loading import load_package\n"
        "from tests.safety.fences import Pages\n"
        "module = load_package(Path(sys.argv[1]))\n"
        "q, few = np.zeros((6000, 2)), Pages().room(2, at_end=True).reshape(1, 2)\n"
        "module.bias_forces(q, few)\n"
    )
    assert python("-c", program, str(folder)).returncode == -signal.SIGSEGV
