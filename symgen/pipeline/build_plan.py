"""Plan of a build: functions, backends, compiler, key and folder, before anything is derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from symgen.deriving.digest import model_hash
from symgen.deriving.selection import Selection, select
from symgen.description import RobotDescription
from symgen.emit import compiled
from symgen.emit.emission import BACKEND_NAMES
from symgen.emit.templates import own_templates
from symgen.emit.text import plain
from symgen.errors import RequestError
from symgen.options import ALL, BuildOptions
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compiler import ZIG_PACKAGE, Compiler, CompilerMissingError, find_compiler
from symgen.toolchain.install import check_place
from symgen.toolchain.key import build_key
from symgen.toolchain.manifest import Manifest, read_manifest

MOST_NAMED = 5
"""Maximum number of functions, loads and so on in a warning."""


@dataclass(frozen=True)
class BuildPlan:
    """Decisions about a build, made before work begins."""

    description: RobotDescription
    options: BuildOptions
    selection: Selection
    compiler: Compiler | None
    backends: tuple[str, ...]
    key: str
    target: Path

    def manifest(self, made: Mapping[str, object] | None = None) -> Manifest:
        """Facts for the manifest of the package, with the report that it `made`."""
        model = self.description
        return Manifest(
            build_key=self.key,
            origin=str(Path(model.file).absolute()),
            runtime_parameters=self.selection.runtime_parameters,
            loads=tuple(load.name for load in model.loads),
            points=tuple(point.name for point in model.points),
            made=made or {},
        )

    def is_up_to_date(self) -> bool:
        """Whether the folder holds this very build, intact."""
        if not self.target.is_dir() or self.target.is_symlink():
            return False
        manifest = read_manifest(self.target)
        if manifest is None or manifest.build_key != self.key:
            return False
        return manifest.is_intact(self.target)


def planned(description: RobotDescription, options: BuildOptions, journal: Journal) -> BuildPlan:
    """Select functions, find the compiler, and check the output folder."""
    selection = select(description, options)
    compiler, backends = _backends(description, options, journal)
    key = _key(description, options, selection, compiler, backends)
    target = _target(description, options, key)
    check_place(target)
    return BuildPlan(description, options, selection, compiler, backends, key, target)


def _backends(
    description: RobotDescription, options: BuildOptions, journal: Journal
) -> tuple[Compiler | None, tuple[str, ...]]:
    """Return the compiler, if one is needed and found, and the backends to print."""
    if options.casadi and options.backend not in (None, compiled.NAME, ALL):
        raise RequestError(
            f"--casadi writes C beside the compiled backend, and the backend is {options.backend}; "
            "leave out --backend"
        )
    if options.casadi and description.is_timed:
        raise RequestError(
            f"{description.file}: --casadi: a force of the model depends on the time t, which "
            "functions for CasADi do not take; give it as one of 'loads'"
        )
    if options.backend == "numpy":
        return None, ("numpy",)
    wanted = {None: ("compiled",), ALL: BACKEND_NAMES}.get(
        options.backend, (options.backend or "compiled",)
    )
    try:
        return find_compiler(), (*wanted, *(() if "numpy" in wanted else ("numpy",)))
    except CompilerMissingError:
        if options.backend is not None or options.casadi:
            raise
        journal.notice(
            "no C compiler was found: the NumPy backend is built instead; pip install "
            f"{ZIG_PACKAGE} brings a compiler"
        )
        return None, ("numpy",)


def _key(
    description: RobotDescription,
    options: BuildOptions,
    selection: Selection,
    compiler: Compiler | None,
    backends: tuple[str, ...],
) -> str:
    choices: Mapping[str, object] = {
        "built": {name: list(functions) for name, functions in selection.built.items()},
        "backends": backends,
        "runtime_parameters": selection.runtime_parameters,
        "form": options.form,
        "equal": options.equal,
        "plain_c": options.plain_c,
        "casadi": options.casadi,
    }
    templates = None if options.templates is None else own_templates(options.templates)
    return build_key(model_hash(description), choices, compiler, options.flags, templates)


def _target(description: RobotDescription, options: BuildOptions, key: str) -> Path:
    if options.out is not None:
        return Path(options.out).absolute() / description.name
    return open_cache().module_folder(key, description.name)


def warn_if_it_replaces(plan: BuildPlan, journal: Journal) -> None:
    """Warn before a build replaces the module of another model with the same name, or a module
    with other arguments."""
    former = read_manifest(plan.target) if plan.target.is_dir() else None
    if former is None or not former.origin:
        return
    new = plan.manifest()
    if former.origin != new.origin:
        journal.notice(
            f"warning: {plan.target} was built from {plain(former.origin)}, a model of the same "
            "name; it is replaced"
        )
        return
    if former.runtime_parameters and former.runtime_parameters != new.runtime_parameters:
        journal.notice(
            f"warning: the module in {plan.target} took the parameters "
            f"{plain(', '.join(former.runtime_parameters))}; now it takes "
            f"{', '.join(new.runtime_parameters) or 'none'} (--runtime-parameters)"
        )
    functions = plan.selection.functions
    had = list(dict.fromkeys(function for _, function in former.derived))
    by = list(dict.fromkeys(name for name, function in former.derived if function in functions))
    for kind, before, now, option in (
        ("load", former.loads, new.loads, "--load LINK, or loads: in the model file"),
        ("point", former.points, new.points, "--point LINK, or points: in the model file"),
        ("function", had, functions, "leave out --functions, or name them there"),
        ("formulation", by, plan.selection.built, "leave out --formulations, or name them"),
    ):
        removed = [name for name in before if name not in now]
        more = [f"{len(removed) - MOST_NAMED} more"] * (len(removed) > MOST_NAMED)
        if removed:
            journal.notice(
                f"warning: the module in {plan.target} had the {kind}{'s' * (len(removed) > 1)} "
                f"{plain(', '.join([*removed[:MOST_NAMED], *more]))}, and has "
                f"{'them' if removed[1:] else 'it'} no more ({option})"
            )
