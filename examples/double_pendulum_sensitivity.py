"""How the kinetic energy of a double pendulum depends on its lengths and masses, for 20 s.

Section 5 of K. S. Anderson and Y. Hsu, "Analytical fully-recursive sensitivity analysis for
multibody dynamic chain systems" (2002): two point masses of 1 kg on rods of 1 m are let go at 30
and 60 degrees.  The derivatives come from

  recursive    one recursion in O(n) for each parameter          (formulation kane)
  traditional  the mass matrix and its derivatives, factorised   (formulation explicit_kane)
  differences  of whole simulations, with the steps of the paper, one-sided and central

It writes a figure with the paper's figures 4 to 7, and beside each how far the methods are apart:

    python examples/double_pendulum_sensitivity.py --out FOLDER
"""

import argparse
import sys
import time
from pathlib import Path
from types import ModuleType

try:
    import matplotlib
    import numpy as np
    import scipy  # noqa: F401
    import xarray as xr
except ImportError as error:
    print(f"{error}: install with `pip install '.[examples]'`", file=sys.stderr)
    raise SystemExit(2) from None

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs from any folder
matplotlib.use("Agg")  # writes files, needs no display
from matplotlib import pyplot as plt

import symgen

MODEL = Path(__file__).with_name("double_pendulum.yaml")
Array = np.ndarray
STEPS = {"L1": 1e-5, "L2": 1e-5, "M_P": 5e-4, "M_Q": 1e-5}  # of the differences: the paper's
UNITS = {"L1": "J/m", "L2": "J/m", "M_P": "J/kg", "M_Q": "J/kg"}
LENGTHS, MASSES = ["L1", "L2"], ["M_P", "M_Q"]
START = np.radians([30.0, 30.0])  # to the vertical, and to the upper rod: 30 and 60 to the vertical
ENERGY = "kinetic_energy"
TOLERANCE = 1e-13
FUNCTIONS = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
    "forward_dynamics_sensitivities",
    "gravity_forces",
    "outputs",
    "outputs_derivatives",
)
STYLES = {
    "traditional": {"color": "C0", "linestyle": "--"},
    "one-sided differences": {"color": "C1", "marker": "o", "mfc": "none", "markevery": (0, 14)},
    "central differences": {"color": "C3", "marker": "x", "markevery": (7, 14)},
}


def released(robot: ModuleType, t: Array, **options: object) -> xr.Dataset:
    """The pendulum let go at rest, its outputs among the results."""
    tolerances = {"rtol": TOLERANCE, "atol": TOLERANCE}
    return symgen.simulate(
        robot, START, np.zeros(2), t, objectives=[ENERGY], **tolerances, **options
    )


def by_formulation(robot: ModuleType, t: Array, formulation: str) -> xr.Dataset:
    """The motion with the derivatives by all parameters."""
    return released(robot, t, sensitivities=tuple(STEPS), formulation=formulation)


def by_differences(robot: ModuleType, t: Array, central: bool) -> Array:
    """Derivatives of the kinetic energy by differences of simulations, (instants, parameters)."""
    values = dict(zip(robot.parameter_names, robot.default_parameters, strict=True))

    def energy(name: str, step: float) -> Array:
        motion = released(robot, t, parameters={name: values[name] + step})
        return motion.outputs.sel(output=ENERGY).values

    columns = []
    for name, step in STEPS.items():
        if central:
            columns.append((energy(name, step) - energy(name, -step)) / (2 * step))
        else:
            columns.append((energy(name, step) - energy(name, 0.0)) / step)
    return np.stack(columns, axis=-1)


def energy_of(motion: xr.Dataset) -> tuple[Array, Array]:
    """Kinetic energy (instants,) and its derivatives (instants, parameters)."""
    gradient = motion.outputs_gradient.sel(output=ENERGY, parameter=list(STEPS))
    return motion.outputs.sel(output=ENERGY).values, gradient.values


def identities(robot: ModuleType, motion: xr.Dataset) -> dict[str, Array]:
    """What the units of the kinetic energy demand of its derivatives, and by how much it is missed.

    Twice the masses: the same motion, twice the energy.  Twice the lengths: the same motion,
    slower by sqrt(2), and twice the energy.  All values of the parameters are 1 but gravity.
    """
    energy, gradient = energy_of(motion)
    by = dict(zip(STEPS, gradient.T, strict=True))
    # what gravity does per second; nothing else acts
    rate = -np.sum(robot.gravity_forces(motion.q.values) * motion.qd.values, axis=-1)
    return {
        "sum M dKE/dM = KE": sum(by[name] for name in MASSES) - energy,
        "sum L dKE/dL = KE - t/2 dKE/dt": sum(by[name] for name in LENGTHS)
        - (energy - motion.time.values / 2 * rate),
    }


def plot(path: Path, t: Array, exact: Array, others: dict[str, Array]) -> None:
    """Left: the derivatives in time; right: how far the other methods are from the recursion."""
    figure, rows = plt.subplots(4, 2, figsize=(12, 13), sharex=True, layout="constrained")
    for k, (name, (left, right)) in enumerate(zip(STEPS, rows, strict=True)):
        letter, index = (name[0], name.lstrip("LM_"))
        left.set_title(rf"d KE / d$\,{letter}_{index}$ (the paper's figure {4 + k})")
        left.plot(t, exact[:, k], color="0.75", linewidth=5, label="recursive")
        left.axhline(0, color="k", linewidth=0.5)
        left.set_ylabel(UNITS[name])
        for label, values in others.items():
            look = {"linewidth": 1.2, **STYLES[label]}
            alone = {"linestyle": "none"} if "marker" in look else {}  # the curves coincide
            left.plot(t, values[:, k], label=label, **(look | alone))
            distance = np.abs(values - exact)[:, k]
            right.semilogy(t, np.where(distance > 0, distance, np.nan), **look)
        right.set_title(f"|difference from the recursive method|, steps {STEPS[name]:.0e}")
        right.set_ylabel(UNITS[name])
    figure.suptitle("Derivatives of the kinetic energy (KE) of the double pendulum")
    figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for axes in rows[-1]:
        axes.set_xlabel("t (s)")
        axes.set_xlim(0, t[-1])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def row(label: str, energy: float | None, numbers: Array, form: str) -> None:
    first = "" if energy is None else f"{energy:.9f}"
    print(f"{label:24}{first:>14}" + "".join(f"{x:14{form}}" for x in numbers))


def report(t: Array, motion: xr.Dataset, others: dict[str, Array]) -> None:
    """The end, and how far the methods are apart on the way there."""
    energy, exact = energy_of(motion)
    names = "".join(f"{f'd/d{name}':>14}" for name in STEPS)
    print(f"\n{f'at {t[-1]:g} s (J, m, kg)':24}{'kinetic energy':>14}{names}")
    row("recursive", energy[-1], exact[-1], ".6f")
    for label, values in others.items():
        row(label, None, values[-1], ".6f")
    print(f"\n{'largest difference from the recursive method on the way'}")
    for label, values in others.items():
        row(label, None, np.abs(values - exact).max(axis=0), ".1e")
    row("(largest value)", None, np.abs(exact).max(axis=0), ".1f")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("double_pendulum_sensitivity"),
        metavar="FOLDER",
        help="where the figure goes (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="2 s of motion, nothing is compiled")
    options = parser.parse_args()

    print("building the module", flush=True)
    robot = symgen.load(
        MODEL,
        formulations="newton_euler,kane,explicit_kane",
        functions=FUNCTIONS,
        runtime_parameters=tuple(STEPS),
        backend="numpy" if options.quick else None,
    )
    end = 2 if options.quick else 20
    t = np.linspace(0.0, end, 20 * end + 1)
    print(f"{robot.name}: {end} s, tolerance {TOLERANCE:g}, {robot.backend} backend\n")

    found = {}
    for label, method in (
        ("recursive", lambda: by_formulation(robot, t, "kane")),
        ("traditional", lambda: by_formulation(robot, t, "explicit_kane")),
        ("one-sided differences", lambda: by_differences(robot, t, central=False)),
        ("central differences", lambda: by_differences(robot, t, central=True)),
    ):
        start = time.perf_counter()
        found[label] = method()
        print(f"{label:24}{time.perf_counter() - start:8.2f} s to compute", flush=True)
    motion = found.pop("recursive")
    _, found["traditional"] = energy_of(found["traditional"])
    report(t, motion, found)

    print("\nlargest error of the identities on the way")
    for label, error in identities(robot, motion).items():
        print(f"  {label:36}{np.abs(error).max():8.1e} J")

    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "figures4to7.png"
    plot(path, t, energy_of(motion)[1], found)
    print(f"\nfigures 4 to 7: {path}")


if __name__ == "__main__":
    main()
