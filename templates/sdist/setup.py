"""Compiles this module where it is installed: plain C, and by gcc and clang once more for every set of
instructions that the processors of this kind may have; when it runs it takes the best there is.

Written by symgen; the same for every robot.
"""

import json
import platform
import sysconfig
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = next(Path().glob("*/manifest.json")).parent
SOURCES = sorted(map(str, (PACKAGE / "c").glob("*.c")))
FLAGS = [
    "-std=c99", "-O2", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros",
    "-ffp-contract=fast", "-fno-tree-slp-vectorize",
]  # fmt: skip
AVX2 = ["-mavx2", "-mfma", "-mbmi2"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"]
VERSIONS = {
    "x86_64": [(1, "avx2", AVX2), (4, "avx2", AVX2), (8, "avx512", AVX512)],
    "aarch64": [(2, "all", [])],
    "arm64": [(2, "all", [])],
}
"""By processor: samples in a vector, instructions, options; the best last."""


class Build(build_ext):
    """Kernels in all versions, linked into one extension, and the list of binaries beside it."""

    def build_extension(self, ext):
        kernels = [x for x in SOURCES if x in ext.sources and not x.endswith("_batch.c")]
        versions = VERSIONS.get(self.processor(), []) if kernels else []
        for width, instructions, options in versions:
            variant = f"{instructions}_{width}"
            ext.extra_objects += self.compiler.compile(
                kernels,
                output_dir=str(Path(self.build_temp) / variant),
                macros=[("SYMGEN_WIDTH", str(width)), ("SYMGEN_VARIANT", variant)],
                extra_postargs=[*FLAGS, *options],
            )
        if versions:
            listed = " ".join(f"X({i}_{width}, {width}, {i})" for width, i, _ in versions)
            ext.define_macros.append(("SYMGEN_VERSIONS(X)", listed))
        super().build_extension(ext)
        path = Path(self.get_ext_fullpath(ext.name))
        listed = path.with_name("binaries.json")
        binaries = json.loads(listed.read_text()) if listed.is_file() else {}
        binaries[ext.name.rpartition("._")[2]] = {
            "module": path.name.partition(".")[0],
            "file": path.name,
            "size": path.stat().st_size,
            "machine": platform.machine(),
        }
        listed.write_text(json.dumps(binaries, indent=2) + "\n")

    def processor(self):
        """That of the wheel; "" where the compiler may have no vectors, or makes several at once."""
        if self.compiler.compiler_type != "unix" or "universal2" in self.plat_name:
            return ""
        return self.plat_name.rpartition("-")[2]


def extension(pyx):
    """The extension of one file of Cython, with its kernels where they are in C."""
    kernels = SOURCES if pyx.stem == "_compiled" else []
    windows = sysconfig.get_platform().startswith("win")
    return Extension(
        f"{PACKAGE.name}.{pyx.stem}",
        [str(pyx), *kernels],
        include_dirs=[numpy.get_include(), str(PACKAGE)],
        extra_compile_args=[] if windows else FLAGS,
        extra_link_args=[] if windows else ["-lm", "-pthread"],
    )


setup(
    ext_modules=cythonize(
        [extension(pyx) for pyx in sorted(PACKAGE.glob("_*.pyx"))], build_dir="build"
    ),
    cmdclass={"build_ext": Build},
)
