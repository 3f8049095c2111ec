"""The contestants, one module each; see `benchmarks.interface` for what they have in common."""

import importlib
from types import ModuleType

REFERENCE = "pinocchio_cpp"
"""The one that ratios refer to."""

NAMES = (
    REFERENCE,
    "symgen_modules",
    "symgen_numpy",
    "pinocchio_python",
    "casadi_c",
    "mujoco_python",
    "sympy_lambdify",
)


def contestant(name: str) -> ModuleType:
    """The module of a contestant; it imports what it measures only when it is asked for cases."""
    return importlib.import_module(f"{__name__}.{name}")


def installed(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True
