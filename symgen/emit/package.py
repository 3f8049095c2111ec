"""The files that every package has, whatever its backends."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from symgen.description.model import Limits
from symgen.emit import text
from symgen.emit.bundle import Sparsity
from symgen.emit.kernels import tolerance
from symgen.emit.module import Module
from symgen.emit.names import identifier
from symgen.emit.templates import Templates

_RUNTIME = resources.files("symgen.runtime")
_OF_MECHANISMS = ("closure.py", "mechanism.py")
"""Sources that only models with loops or relations need."""
_VERBATIM = ("_backends.py", "_kinematics.py", "_result_memory.py", "_runtime.py")


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the top level, formulations, stubs, runtime, and the checks of ``selftest``."""
    values = module.values()
    runtime = {
        file.name: file.read_text(encoding="utf-8")
        for file in _RUNTIME.iterdir()
        if file.name.endswith(".py")
    }
    is_mechanism = bool(module.metadata.constraint_names)
    package = {
        f"_symgen/{name}": source
        for name, source in runtime.items()
        if is_mechanism or name not in _OF_MECHANISMS
    }
    package |= {
        "__init__.py": templates.render("package/__init__.py", **values, **_top_level(module)),
        "__init__.pyi": templates.render(
            "package/__init__.pyi",
            **values,
            kinematics=_docstrings(templates.source("package/_kinematics.py")),
            mechanism=_docstrings(runtime["mechanism.py"]),
            configuration=_docstrings(runtime["configuration.py"]),
        ),
        "py.typed": "",
        "_numpy_backend.py": templates.render("package/_numpy_backend.py", **values),
        "_signatures.py": templates.render(
            "package/_signatures.py",
            **{
                **values,
                "functions": module.signatures,
                "default_parameters": list(module.metadata.default_parameters),
                "tolerance": tolerance(module.metadata.sizes),
            },
        ),
    }
    for formulation in module.formulations:
        for suffix in ("py", "pyi"):
            package[f"{formulation.name}.{suffix}"] = templates.render(
                f"package/formulation.{suffix}", **values, formulation=formulation
            )
    package.update((name, templates.source(f"package/{name}")) for name in _VERBATIM)
    return package


def _docstrings(source: str) -> dict[str, str]:
    """Return docstrings of the functions of a hand-written module, by name."""
    tree = ast.parse(source)
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {function.name: ast.get_docstring(function) or "" for function in functions}


def _top_level(module: Module) -> dict[str, object]:
    metadata = module.metadata
    counts = metadata.operation_counts
    return {
        "title": text.plain(f"{module.robot}: {metadata.description or 'a robot'}"),
        "overview": _overview(module),
        "facts": {name: _source(fact.value) for name, fact in metadata.facts.items()},
        "limits": list(_limits(module)),
        "operation_counts": [
            (
                identifier(formulation),
                [(identifier(function), dict(n)) for function, n in functions.items()],
            )
            for formulation, functions in counts.items()
        ],
        "missing": [(identifier(name), str(why)) for name, why in _missing(module).items()],
    }


def _missing(module: Module) -> dict[str, str]:
    """Return messages by name, of functions that were not built or stand elsewhere."""
    elsewhere = {
        name: f"{name} is a function of symgen: symgen.{name}({module.robot}, ...)"
        for name in ("simulate", "plan", "animate", "equilibrium")
    }
    if not module.package.metadata.constraint_names:
        loops = "is for models with 'loops' or 'relations'; this one has none"
        names = ("assemble", "closed_velocities", "freedoms", "constrained_forward_dynamics")
        elsewhere |= {name: f"{name} {loops}" for name in names}
    return {**module.package.missing, **elsewhere}


def _overview(module: Module) -> str:
    functions = text.table((f.name, f"{f.summary} ({f.formulation})") for f in module.functions)
    formulations = ", ".join(formulation.name for formulation in module.formulations)
    return "\n".join(
        [
            text.wrapped(
                "SI units, radians, float64. Arguments and results have one sample in their last "
                "axes; batch axes stand in front of them and broadcast mutually. The functions, "
                "each by its fastest formulation:"
            ),
            "",
            functions,
            "",
            text.wrapped(
                f"Formulations, as sub-modules with the functions they derive: {formulations}."
            ),
            *_about_quaternions(module),
        ]
    )


def _about_quaternions(module: Module) -> list[str]:
    """Return remarks on q for robots with joints on manifolds."""
    metadata = module.metadata
    if not metadata.quaternions:
        return []
    return [
        "",
        text.wrapped(
            f"q has nq = {metadata.nq} entries, position_names; velocities, accelerations and "
            f"torques have n = {metadata.n}, coordinate_names. Quaternions are x y z w, of unit "
            "norm; velocities of joints that have one are in the axes of the link. Derivatives "
            "with respect to q are those in the tangent space, of integrate(q, e) by e at e = 0."
        ),
    ]


def _source(value: Any) -> str:
    """Print the value of a `Fact` as Python source."""
    if isinstance(value, Mapping):
        entries = "".join(f'    "{key}": {_source(entry)},\n' for key, entry in value.items())
        return f"{{\n{entries}}}"
    if isinstance(value, Sparsity):
        return f"_runtime.pattern({value.shape!r}, {value.positions!r})"
    if isinstance(value, list) and len(value) >= 10:
        rows = [", ".join(map(repr, value[k : k + 10])) for k in range(0, len(value), 10)]
        lines = "".join(f"    {row},\n" for row in rows)
        return f"_runtime.constant([\n{lines}])"
    return f"_runtime.constant({value})" if isinstance(value, list) else repr(value)


def _limits(module: Module) -> Iterator[tuple[str, list[str]]]:
    """Print limits of all coordinates by kind; infinite where the model gives none."""
    for kind in Limits.__dataclass_fields__:
        missing = 'float("-inf")' if kind == "lower" else 'float("inf")'
        values = (getattr(limits, kind) for limits in module.metadata.limits)
        yield kind, [missing if value is None else repr(float(value)) for value in values]
