"""Compile this module at its installation: plain C, and with gcc and clang also for every set of
instructions of this architecture, of which the module uses the best at run time.

Written by symgen; the same for every robot.
"""

import json
import platform
import sysconfig
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = next(Path().glob("*/manifest.json")).parent
SOURCES = sorted(map(str, (PACKAGE / "c").glob("*.c")))
ONCE = ("_batch.c", "_mechanism.c")
KERNELS = [x for x in SOURCES if not x.endswith(ONCE)]
OTHERS = [x for x in SOURCES if x.endswith(ONCE)]
OTHERS += sorted(map(str, (PACKAGE / "c" / "python").glob("*.c")))
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
    """Compilation of kernels in all versions, of one extension, and of the list of binaries."""

    def build_extension(self, ext):
        kernels = [x for x in KERNELS if x in ext.sources]
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
        """Return the processor of the wheel; "" if the compiler may lack vectors."""
        if self.compiler.compiler_type != "unix" or "universal2" in self.plat_name:
            return ""
        return self.plat_name.rpartition("-")[2]


def extension(source):
    """Return the extension of one C or Cython file, with its kernels in C, if any."""
    kernels = [*KERNELS, *OTHERS]
    if source.suffix == ".pyx":
        kernels = [x for x in OTHERS if not x.endswith("_batch.c")]
    windows = sysconfig.get_platform().startswith("win")
    return Extension(
        f"{PACKAGE.name}.{source.stem}",
        [str(source), *kernels],
        include_dirs=[numpy.get_include(), str(PACKAGE)],
        extra_compile_args=[] if windows else FLAGS,
        extra_link_args=[] if windows else ["-lm", "-pthread"],
    )


def extensions():
    """Return all extensions; only Cython files need Cython."""
    modules = [extension(c) for c in sorted(PACKAGE.glob("_*.c"))]
    if translated := sorted(PACKAGE.glob("_*.pyx")):
        from Cython.Build import cythonize

        modules += cythonize([extension(pyx) for pyx in translated], build_dir="build")
    return modules


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": Build},
)
