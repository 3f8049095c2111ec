"""The first use of a tool chain: it builds the two-link arm, which has printed formulas.

A compiler with its flags that was never validated on this machine builds every formulation and
backend of the arm, and all of them are held against eqs. (69)-(82) of Xiang 2009.  What passed is
remembered under the key of the tool chain, so this happens once.
"""

from __future__ import annotations

from symgen.deriving.derivation import derive_all, package_of
from symgen.deriving.selection import select
from symgen.description import read
from symgen.emit.emission import BACKEND_NAMES, emit
from symgen.errors import ValidationError
from symgen.options import ALL, BuildOptions
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compile import compile_extensions
from symgen.toolchain.compiler import Compiler
from symgen.toolchain.install import stage
from symgen.toolchain.key import toolchain_key
from symgen.toolchain.loading import forget_package, load_built
from symgen.validation.checks import subjects_of
from symgen.validation.two_link import model_path
from symgen.validation.validate import PRINTED_FUNCTIONS, ValidationResult, validate_two_link


def qualify(compiler: Compiler | None, flags: str, journal: Journal) -> bool:
    """Validate the tool chain if this was never done; whether it was done now.

    Raises `ValidationError` where its results differ from the printed formulas.
    """
    cache = open_cache(journal.notice)
    key = toolchain_key(compiler, flags)
    if cache.is_toolchain_validated(key):
        return False
    with journal.stage("tool chain"):
        result = _two_link_result(compiler, flags, journal)
    if not result.passed:
        raise ValidationError(
            "the tool chain does not reproduce the two-link arm, so nothing was built with it\n"
            + "\n".join(str(row) for row in result.failures)
        )
    cache.mark_toolchain_validated(key)
    tools = "the NumPy backend" if compiler is None else f"{compiler.name} ({flags})"
    journal.notice(
        f"first use of {tools} on this machine: the two-link arm agrees with eqs. (69)-(82) of "
        f"Xiang 2009 in every formulation, backend and gradient ({len(result.rows)} comparisons)"
    )
    return True


def _two_link_result(compiler: Compiler | None, flags: str, journal: Journal) -> ValidationResult:
    description = read(model_path())
    options = BuildOptions(formulations=(ALL,), functions=PRINTED_FUNCTIONS, flags=flags)
    selection = select(description, options)
    derived = derive_all(description, selection)
    backends = ("numpy",) if compiler is None else BACKEND_NAMES
    bundle = emit(package_of(description, selection, derived), backends)
    with (
        open_cache().workspace("two-link") as folder,
        stage(folder / description.name) as staged,
    ):
        staged.write_sources(bundle.files)
        if bundle.extensions:
            binaries = compile_extensions(
                bundle,
                compiler=compiler,
                flags=flags,
                progress=lambda what, done, total: journal.progress(
                    f"tool chain: {what}", done, total
                ),
            )
            staged.write_binaries(binaries.files())
        module = load_built(staged.folder, backends)
        try:
            return validate_two_link(subjects_of(module))
        finally:
            forget_package(module)
