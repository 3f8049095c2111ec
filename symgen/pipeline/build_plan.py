"""Everything that is decided before a build derives anything: backends, compiler, key, folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from symgen.deriving.digest import model_hash
from symgen.deriving.selection import Selection, select
from symgen.description import RobotDescription
from symgen.description.model import LinkPoint
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


@dataclass(frozen=True)
class BuildPlan:
    """Everything that is decided before work begins."""

    description: RobotDescription
    options: BuildOptions
    selection: Selection
    compiler: Compiler | None
    backends: tuple[str, ...]
    key: str
    target: Path

    @property
    def origin(self) -> str:
        """Absolute path of the model file."""
        return str(Path(self.description.file).absolute())

    def is_up_to_date(self) -> bool:
        """Whether the folder holds this very build, intact."""
        if not self.target.is_dir() or self.target.is_symlink():
            return False
        manifest = read_manifest(self.target)
        return (
            manifest is not None
            and manifest.build_key == self.key
            and manifest.is_intact(self.target)
        )


def planned(description: RobotDescription, options: BuildOptions, journal: Journal) -> BuildPlan:
    """Select what is built, find the compiler, and check the folder that it goes to."""
    selection = select(description, options)
    compiler, backends = _backends(description, options, journal)
    key = _key(description, options, selection, compiler, backends)
    target = _target(description, options, key)
    check_place(target)
    return BuildPlan(description, options, selection, compiler, backends, key, target)


def _backends(
    description: RobotDescription, options: BuildOptions, journal: Journal
) -> tuple[Compiler | None, tuple[str, ...]]:
    """The compiler, where one is needed and found, and the backends to print."""
    if options.casadi and options.backend not in (None, compiled.NAME, ALL):
        raise RequestError(
            f"--casadi writes C beside the compiled backend, and the backend is {options.backend}; "
            "leave out --backend"
        )
    if options.casadi and description.is_timed:
        raise RequestError(
            f"{description.file}: --casadi: a force of the model mentions the time, t, which "
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
    """Say so before a module is replaced that is not meant to be: that of another model with the
    same name, or one with other arguments."""
    former = read_manifest(plan.target) if plan.target.is_dir() else None
    if former is None or not former.origin:
        return
    if former.origin == plan.origin:
        _warn_if_arguments_change(former, plan, journal)
        return
    journal.notice(
        f"warning: {plan.target} was built from {plain(former.origin)}, a model of the same "
        "name; it is replaced"
    )


def names_of(places: Iterable[LinkPoint]) -> tuple[str, ...]:
    """Return the names of loads or points."""
    return tuple(place.name for place in places)


def _warn_if_arguments_change(former: Manifest, plan: BuildPlan, journal: Journal) -> None:
    now = plan.selection.runtime_parameters
    if former.runtime_parameters and former.runtime_parameters != now:
        names = plain(", ".join(former.runtime_parameters))
        journal.notice(
            f"warning: the module in {plan.target} took the parameters {names}; now it "
            f"takes {', '.join(now) or 'none'} (--runtime-parameters)"
        )
    for kind, before, names_now in (
        ("load", former.loads, names_of(plan.description.loads)),
        ("point", former.points, names_of(plan.description.points)),
    ):
        gone = [name for name in before if name not in names_now]
        if gone:
            journal.notice(
                f"warning: the module in {plan.target} had the {kind}{'s' * (len(gone) > 1)} "
                f"{plain(', '.join(gone))}, and has {'them' if gone[1:] else 'it'} no more "
                f"(--{kind} LINK, or {kind}s: in the model file)"
            )
