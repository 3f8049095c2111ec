"""Compiled modules under AddressSanitizer and UndefinedBehaviorSanitizer.

Kernels and wrappers are compiled with both, and everything is called in a Python of its own into
which the run-time libraries of the sanitizers are loaded first.  Versions for wider vectors than
this processor has are made with what it has, so that their C code is watched as well."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from symgen.options import BuildOptions
from symgen.toolchain.compiler import AVX2, Version
from tests.emit.test_versions import runs
from tests.mechanisms.models import held_text
from tests.modules import file_of
from tests.safety.building import (
    EXAMPLES,
    Watched,
    always_streaming,
    bundle_of,
    put,
    python,
    replaced,
    report,
)

SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
OPTIONS_OF_ASAN = "detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1"
AVX2_HERE = AVX2 if runs(4) else ()
LOOPS_OF_8 = ("-D__AVX512F__", "-DSYMGEN_WITHOUT_STREAMS")
"""A single sample takes as many joints at a time as a vector of AVX-512 holds."""

WIDTHS = (
    Version(1, "avx2", AVX2_HERE), Version(2, "all"), Version(4, "avx2", AVX2_HERE),
    Version(8, "all", AVX2_HERE),
)  # fmt: skip
EIGHT_JOINTS = (Version(1, "all", (*AVX2_HERE, *LOOPS_OF_8)), Version(8, "all", AVX2_HERE))


@dataclass(frozen=True)
class Case:
    model: str
    versions: tuple[Version, ...]
    formulations: tuple[str, ...] = ("all",)
    form: str = "straight"
    backends: tuple[str, ...] = ("compiled", "numpy")
    functions: tuple[str, ...] = ("all",)

    @property
    def options(self):
        return BuildOptions(
            formulations=self.formulations, functions=self.functions, runtime_parameters=("all",),
            form=self.form, equal=True,
        )  # fmt: skip


CASES = {
    "every formulation": Case("two_link", WIDTHS),
    "in Cython": Case("two_link", (), backends=("cython", "numpy")),
    "outputs": Case("double_pendulum", WIDTHS, formulations=("default",)),
    "composite joints": Case(
        "satellite_arm", WIDTHS[2:], ("newton_euler",), functions=("inverse_dynamics", "jacobians")
    ),
    "tree in loops": Case("tree12", WIDTHS, ("composite",), form="loops"),
    "tree in loops, wide": Case("tree12", EIGHT_JOINTS, ("composite",), form="loops"),
}


def libraries():
    """The run-time libraries of gcc's sanitizers; none where they are not installed."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        return ()
    found = []
    for name in ("libasan.so", "libubsan.so"):
        command = ["gcc", f"-print-file-name={name}"]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        if not os.path.isabs(path):
            return ()
        found.append(path)
    return tuple(found)


pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not libraries(), reason="needs gcc with its sanitizers"),
]


def watched(folder, bundle, versions, change=None, program="exercise"):
    """Build a package with the sanitizers, and run a program on it while they look on."""
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    compiler = Watched(("gcc", *SANITIZED), gcc.stdout.strip(), tuple(versions))
    environment = {"ASAN_OPTIONS": OPTIONS_OF_ASAN, "UBSAN_OPTIONS": "print_stacktrace=1"}
    environment = {**os.environ, "LD_PRELOAD": " ".join(libraries()), **environment}
    arguments = [str(put(bundle, folder, compiler, change)), "blocks"]
    return python("-m", f"tests.safety.{program}", *arguments, environment=environment)


@pytest.mark.parametrize("name", CASES)
def test_sanitizers_find_nothing(name, tmp_path):
    case = CASES[name]
    bundle = bundle_of(EXAMPLES / f"{case.model}.yaml", case.options, case.backends)
    said = report(watched(tmp_path, bundle, case.versions))
    widths = {1, *(version.width for version in case.versions)}
    wanted = {f"compiled {width}" for width in widths} if case.versions else {"cython"}
    assert set(said["kinds"]) == wanted and said["calls"] > 500


def test_sanitizers_find_nothing_in_streams(tmp_path):
    """Short rows and long ones, packed and not, past the caches."""
    functions = ("inverse_dynamics_derivatives", "mass_matrix")
    options = BuildOptions(formulations=("composite",), functions=functions, form="straight")
    bundle = bundle_of(EXAMPLES / "tree12.yaml", options, ("compiled", "numpy"))
    assert report(watched(tmp_path, bundle, WIDTHS[1:], always_streaming))["calls"] > 500


@pytest.mark.parametrize("case", ["compiled", "cython", "at fault", "quaternions"])
def test_sanitizers_in_mechanisms(case, tmp_path):
    """Steps and accelerations in C: redundant rows, sensitivities, outputs; one array too short."""
    options = BuildOptions(formulations=("newton_euler",), runtime_parameters=("all",))
    wrong, model = case == "at fault", EXAMPLES / "mechanisms" / "five_bar.yaml"
    if case == "quaternions":
        model = file_of(held_text("quaternion"))
    bundle = bundle_of(model, options, ("cython" if case == "cython" else "compiled", "numpy"))
    pivots = "w->right.pivots = (int *)carve(base, &used, "
    fault = replaced("c/symgen-mechanism.h", pivots + "N)", pivots + "1)") if wrong else None
    done = watched(tmp_path, bundle, WIDTHS[2:3], fault, "mechanisms")
    if wrong:
        assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr, done.stderr
    else:
        assert report(done)["rows"] == 38


FAULTS = {
    "heap": ("c/symgen-rows.h", "k < valid ? k : valid - 1", "k", "heap-buffer-overflow"),
    "wrapper": (
        "c/python/symgen-calls.c",
        "        if (PyArray_DIMS(given)[axis] != batch->shape[axis]) return 0;\n",
        "        continue;\n", "heap-buffer-overflow"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_sanitizers_find_a_fault(name, tmp_path):
    file, former, other, word = FAULTS[name]
    options = BuildOptions(formulations=("newton_euler",), functions=("inverse_dynamics",))
    bundle = bundle_of(EXAMPLES / "tree12.yaml", options, ("compiled", "numpy"))
    done = watched(tmp_path, bundle, WIDTHS[2:], replaced(file, former, other))
    assert done.returncode != 0 and word in done.stderr, done.stderr
