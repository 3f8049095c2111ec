"""Sensitivities of the 43-coordinate human: analytic, by complex step, by adaptive differences.

python examples/human43_sensitivities.py              # needs pip install '.[examples]'

The experiment of the open-tree paper on recursive Lagrangian sensitivity analysis: all coordinates
follow sin(2 pi t); wanted are d tau/d q, d tau/d qd and d tau/d qdd at 301 instants in 3 s.  The
numbers of joints and figures are those of the paper.

- analytic: all instants and all three matrices in ONE call of the generated module.
- complex step: d f / d x = Im f(x + ih) / h with h = 1e-40.  No difference is taken, nothing
  cancels, and the result is exact to rounding.  The NumPy source in every module takes complex
  numbers.
- differences: central differences of order 8, the steps halved until the estimated error is small
  (scipy.differentiate.jacobian), from two kinds of first step:
    fixed          0.5, whatever the coordinate;
    proportional   the coordinate itself, or 1 where it is exactly 0.

The second kind explains the spikes that the paper reports where coordinates vanish.  It is that of
MATLAB's jacobianest, which the paper uses (from 100 times the coordinate downwards).  In floating
point sin(pi) is not 0 but 1.2e-16.  A step of that size changes a torque by nothing, or by a
rounding error; the derivative found is 0, or such an error over 1e-16.  So there are spikes
wherever the derivative is not 0 while the coordinate nearly is.  There is none at t = 0, where sin
is exactly 0; none in d tau/d qd, which vanishes with qd; and with fixed steps none at all.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

try:
    import matplotlib
    import numpy as np
    from scipy.differentiate import jacobian
except ImportError as error:
    print(f"{error}: install with `pip install '.[examples]'`", file=sys.stderr)
    raise SystemExit(2) from None

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs from any folder
matplotlib.use("Agg")  # writes files, needs no display
from matplotlib import pyplot as plt

import symgen

HUMAN = Path(__file__).with_name("human43.yaml")
Array = np.ndarray
State = tuple[Array, Array, Array]  # q, qd, qdd: (instants, n) each
NAMES = ("q", "qd", "qdd")
SYMBOLS = ("q", r"\dot q", r"\ddot q")
# All joints in the figures turn: tau in N m, q in rad.
UNITS = ("N m/rad", "N m s/rad", r"N m s$^2$/rad")
FIGURE_4 = ((20, 0, 5), (30, 1, 25), (42, 2, 22))  # torque of joint i, with respect to what, of k
FIGURE_5 = ((18, 0, 14), (18, 1, 14), (18, 2, 14))
FEW = 100  # so few instants are drawn with markers: a line alone would pretend to know the rest
BOTTOM = 1e-18  # where an error of exactly 0 stands on a logarithmic axis
PAPER = "the paper (301 instants, MATLAB, one call per instant)"
PAPER_ANALYTIC, PAPER_NUMERIC = 1e3 * 0.0166 / 301, 1e3 * 2.62e5 / 301  # ms per instant


def trajectory(t: Array, n: int) -> State:
    """All coordinates sin(2 pi t), with their derivatives in time."""
    w = 2 * np.pi
    phase = w * t[:, np.newaxis] + np.zeros(n)
    return np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)


def by_differences(torques: Callable, state: State, which: int, proportional: bool) -> Array:
    """d tau / d state[which] by adaptive central differences, (instants, n, n)."""
    result = []
    for instant in zip(*state, strict=True):
        x, here = instant[which], torques(*instant)

        def change(x: Array, instant: State = instant, here: Array = here) -> Array:
            arguments = list(instant)
            arguments[which] = np.moveaxis(x, 0, -1)  # scipy's batch axes are last: (n, ...)
            return np.moveaxis(torques(*arguments) - here, -1, 0)

        step = np.where(x == 0, 1.0, np.abs(x)) if proportional else 0.5
        result.append(jacobian(change, x, initial_step=step).df)
    return np.array(result)


def by_complex_step(robot: ModuleType, state: State, which: int, h: float = 1e-40) -> Array:
    """d tau / d state[which], one column at all instants at a time, (instants, n, n)."""
    torques = robot.backends["numpy"].newton_euler.inverse_dynamics
    columns = []
    for k in range(robot.n):
        arguments = list(state)
        arguments[which] = state[which] + 1j * h * np.eye(robot.n)[k]
        columns.append(torques(*arguments).imag / h)
    return np.stack(columns, axis=-1)


def timed(function: Callable, *arguments: object, repeat: int = 1) -> tuple[float, tuple]:
    """The shortest of `repeat` calls, s, and the result."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = function(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def spikes(t: Array, error: Array, scale: float) -> list[tuple[float, int, float, tuple[int, int]]]:
    """Instants at which the error of some entry stands out: (t, how many entries, largest, entry).

    An error stands out if it is a thousand times the median of its entry in time, and more than a
    millionth of the largest entry of the matrix: of some weight, that is.
    """
    size = np.abs(error)
    out = (size > 1e3 * np.median(size, axis=0)) & (size > 1e-6 * scale)
    found = []
    for k in np.flatnonzero(out.any(axis=(1, 2))):
        i, j = np.unravel_index(size[k].argmax(), size[k].shape)
        found.append((float(t[k]), int(out[k].sum()), float(size[k].max()), (int(i), int(j))))
    return found


def plot_sensitivities(
    path: Path, t: Array, entries: tuple, exact: list, numeric: dict, names: tuple
) -> None:
    """Left: an entry in time, right: the errors of the differences (the paper's figs. 4 and 5)."""
    few = len(t) < FEW
    thick = {"marker": "o", "markersize": 8, "linewidth": 1} if few else {"linewidth": 4}
    styles = ("C0.", "C3x:" if few else "C3-")
    figure, rows = plt.subplots(3, 2, figsize=(12, 9), sharex=True, layout="constrained")
    for (left, right), (i, which, k) in zip(rows, entries, strict=True):
        curve = exact[which][:, i - 1, k - 1]
        symbol = rf"$\partial \tau_{{{i}}} / \partial {SYMBOLS[which]}_{{{k}}}$"
        left.set_title(f"{symbol} ({names[i - 1]} by {names[k - 1]})")
        left.set_ylabel(UNITS[which])
        left.plot(t, curve, "0.7", label="analytic", **thick)
        for (name, matrices), style in zip(numeric.items(), styles, strict=True):
            values = matrices[which][:, i - 1, k - 1]
            look = {"linewidth": 1, "markersize": 5 if few else 3}
            left.plot(t, values, style, label=f"differences, {name} steps", **look)
            right.semilogy(t, np.maximum(np.abs(values - curve), BOTTOM), style, **look)
            failed = np.abs(values - curve) > 1e-3 * np.abs(curve).max()
            mark = {"mfc": "none", "mec": style[:2], "markersize": 9, "label": "failures of these"}
            if name == "proportional":
                left.plot(t[failed], values[failed], "o", **mark)
        with_zeros = right.get_ylim()[0] < BOTTOM
        zeros = f" (exact zeros are drawn at {BOTTOM:g})" if with_zeros else ""
        right.set_title(f"|error of the differences|{zeros}")
        right.set_ylabel(UNITS[which])
    figure.suptitle(r"Derivatives of the joint torques $\tau$ (the paper's $Q$)")
    figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for axes in rows[-1]:
        axes.set_xlabel("t (s)")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_motion(path: Path, t: Array, state: State, tau: Array, names: tuple) -> None:
    """Coordinates and torques behind the entries shown (the paper's fig. 6)."""
    q, qd, _ = state
    curves = [("q", 5, q, "rad"), ("q", 14, q, "rad"), (r"\dot q", 25, qd, "rad/s")]
    curves += [(r"\tau", i, tau, "N m") for i in (20, 18, 30)]
    figure, axes = plt.subplots(2, 3, figsize=(12, 6), sharex=True, layout="constrained")
    for place, (symbol, i, values, unit) in zip(axes.flat, curves, strict=True):
        place.plot(t, values[:, i - 1], "o:" if len(t) < FEW else "-", markersize=3)
        place.axhline(0, color="k", linewidth=0.5)
        place.set_title(f"${symbol}_{{{i}}}$ ({names[i - 1]})")
        place.set_ylabel(unit)
    figure.suptitle(r"Motion and joint torques $\tau$ (the paper's $Q$)")
    for place in axes[-1]:
        place.set_xlabel("t (s)")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(label: str, milliseconds: float, matrices: list, exact: list) -> None:
    """One line: RMS error of each matrix, time per instant."""
    rms = [np.sqrt(np.mean((a - b) ** 2)) for a, b in zip(matrices, exact, strict=True)]
    print(f"{label:32}" + "".join(f"{x:12.1e}" for x in rms) + f"{milliseconds:16.4f}")


def report_times(robot: ModuleType, instants: int, ratios: dict) -> None:
    """What the times are of, and what of them may be compared with the paper's."""
    print(
        f"\nTimes: mean of {instants} instants, {robot.backend} backend (complex step: numpy), on "
        "this machine.\nThe ratio of two of them depends on the machine least:\n"
        "differences / analytic derivatives, arrays re-used"
    )
    for name, ratio in ratios.items():
        print(f"  {f'{name} steps':20}{ratio:12.0f}")
    print(
        f"  {'jacobianest':20}{PAPER_NUMERIC / PAPER_ANALYTIC:12.1e}  {PAPER}:\n"
        f"{'':36}{PAPER_NUMERIC:.1e} / {PAPER_ANALYTIC:.3f} ms per instant"
    )


def report_spikes(label: str, t: Array, matrices: list, exact: list, names: tuple) -> None:
    """Every instant at which the differences fail."""
    print(f"\nspikes of the differences, {label} steps:")
    count = 0
    for name, a, b in zip(NAMES, matrices, exact, strict=True):
        for instant, entries, size, (i, k) in spikes(t, a - b, np.abs(b).max()):
            print(
                f"  t = {instant:4.2f}  d tau / d {name:3}  {entries:4} entries; the largest "
                f"{size:8.1e}: tau_{i + 1} ({names[i]}), {name}_{k + 1} ({names[k]})"
            )
            count += 1
    if not count:
        print("  none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("human43_sensitivities"),
        metavar="FOLDER",
        help="where the figures go (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="31 instants, nothing is compiled")
    options = parser.parse_args()

    robot = symgen.load(
        HUMAN,
        formulations="newton_euler",
        functions="inverse_dynamics,inverse_dynamics_derivatives",
        backend="numpy" if options.quick else None,
    )
    t = np.linspace(0.0, 3.0, 31 if options.quick else 301)
    state = trajectory(t, robot.n)
    print(f"{robot.name}: {robot.n} coordinates, {len(t)} instants, {robot.backend} backend\n")

    derivatives, per_instant = robot.inverse_dynamics_derivatives, 1e3 / len(t)
    seconds, results = timed(derivatives, *state, repeat=5)
    tau, *exact = results
    reused = tuple(np.empty_like(array) for array in results)
    derivatives(*state, out=reused)  # so that the system has provided the memory
    shortest, _ = timed(lambda: derivatives(*state, out=reused), repeat=5)
    print(f"{'RMS error (SI units)':32}" + "".join(f"{f'd tau/d {x}':>12}" for x in NAMES), end="")
    print(f"{'ms per instant':>16}")
    for label, duration in (("new arrays", seconds), ("arrays re-used (out=)", shortest)):
        print(f"{f'analytic, {label}':32}" + f"{'-':>12}" * 3 + f"{duration * per_instant:16.4f}")

    duration, matrices = timed(lambda: [by_complex_step(robot, state, k) for k in range(3)])
    report("complex step", duration * per_instant, matrices, exact)

    numeric, ratios = {}, {}
    for name, proportional in (("fixed", False), ("proportional", True)):
        duration, numeric[name] = timed(
            lambda p=proportional: [
                by_differences(robot.inverse_dynamics, state, k, p) for k in range(3)
            ]
        )
        report(f"differences, {name} steps", duration * per_instant, numeric[name], exact)
        ratios[name] = duration / shortest
    largest = "".join(f"{np.abs(matrix).max():12.1f}" for matrix in exact)
    print(f"{'(the largest entry)':32}{largest}")
    report_times(robot, len(t), ratios)
    for name, matrices in numeric.items():
        report_spikes(name, t, matrices, exact, robot.coordinate_names)

    options.out.mkdir(parents=True, exist_ok=True)
    names = robot.coordinate_names
    plot_sensitivities(options.out / "figure4.png", t, FIGURE_4, exact, numeric, names)
    plot_sensitivities(options.out / "figure5.png", t, FIGURE_5, exact, numeric, names)
    plot_motion(options.out / "figure6.png", t, state, tau, names)
    print(f"\nfigures 4 to 6: {options.out}")


if __name__ == "__main__":
    main()
