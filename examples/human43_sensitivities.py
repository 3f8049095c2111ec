"""Sensitivities of the 43-coordinate human: analytic, by complex step, by adaptive differences.

python examples/human43_sensitivities.py              # needs scipy >= 1.15 and matplotlib

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

import matplotlib
import numpy as np
from scipy.differentiate import jacobian

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs from any folder
matplotlib.use("Agg")  # writes files, needs no display
from matplotlib import pyplot as plt

import symgen

HUMAN = Path(__file__).with_name("human43.yaml")
Array = np.ndarray
State = tuple[Array, Array, Array]  # q, qd, qdd: (instants, n) each
NAMES = ("q", "qd", "qdd")
SYMBOLS = ("q", r"\dot q", r"\ddot q")
FIGURE_4 = ((20, 0, 5), (30, 1, 25), (42, 2, 22))  # torque of joint i, with respect to what, of k
FIGURE_5 = ((18, 0, 14), (18, 1, 14), (18, 2, 14))


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


def plot_sensitivities(path: Path, t: Array, entries: tuple, exact: list, numeric: dict) -> None:
    """Left: an entry in time, right: the errors of the differences (the paper's figs. 4 and 5)."""
    figure, rows = plt.subplots(3, 2, figsize=(11, 8), sharex=True, layout="constrained")
    for (left, right), (i, which, k) in zip(rows, entries, strict=True):
        curve = exact[which][:, i - 1, k - 1]
        left.set_ylabel(rf"$\partial Q_{{{i}}} / \partial {SYMBOLS[which]}_{{{k}}}$")
        left.plot(t, curve, "0.7", linewidth=4, label="analytic")
        for (name, matrices), style in zip(numeric.items(), ("C0.", "C3-"), strict=True):
            values = matrices[which][:, i - 1, k - 1]
            label = f"differences, {name} steps"
            left.plot(t, values, style, linewidth=1, markersize=3, label=label)
            error = np.maximum(np.abs(values - curve), 1e-18)  # what is 0 stands at the bottom
            right.semilogy(t, error, style, linewidth=1, markersize=3)
        right.set_ylabel("|error of the differences|")
    figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    for axes in rows[-1]:
        axes.set_xlabel("t (s)")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_motion(path: Path, t: Array, state: State, tau: Array) -> None:
    """Coordinates and torques behind the entries shown (the paper's fig. 6)."""
    q, qd, _ = state
    curves = {"q_5": q[:, 4], "q_{14}": q[:, 13], r"\dot q_{25}": qd[:, 24]}
    curves |= {f"Q_{{{i}}}": tau[:, i - 1] for i in (20, 18, 30)}
    figure, axes = plt.subplots(2, 3, figsize=(11, 5), sharex=True, layout="constrained")
    for place, (name, curve) in zip(axes.flat, curves.items(), strict=True):
        place.plot(t, curve)
        place.axhline(0, color="k", linewidth=0.5)
        place.set_title(f"${name}$")
    for place in axes[-1]:
        place.set_xlabel("t (s)")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(label: str, seconds: float, matrices: list, exact: list) -> None:
    """One line: RMS error of each matrix, time."""
    rms = [np.sqrt(np.mean((a - b) ** 2)) for a, b in zip(matrices, exact, strict=True)]
    print(f"{label:32}" + "".join(f"{x:12.1e}" for x in rms) + f"{seconds:14.4f}")


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
    parser.add_argument("--out", type=Path, default=Path("human43_sensitivities"), metavar="FOLDER")
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

    seconds, (tau, *exact) = timed(robot.inverse_dynamics_derivatives, *state, repeat=3)
    print(f"{'RMS error (SI units)':32}" + "".join(f"{f'd tau/d {x}':>12}" for x in NAMES), end="")
    print(f"{'seconds':>14}")
    print(f"{'analytic, one call':32}" + f"{'-':>12}" * 3 + f"{seconds:14.4f}")

    complex_seconds, matrices = timed(lambda: [by_complex_step(robot, state, k) for k in range(3)])
    report("complex step", complex_seconds, matrices, exact)

    numeric, ratios = {}, {}
    for name, proportional in (("fixed", False), ("proportional", True)):
        duration, numeric[name] = timed(
            lambda p=proportional: [
                by_differences(robot.inverse_dynamics, state, k, p) for k in range(3)
            ]
        )
        report(f"differences, {name} steps", duration, numeric[name], exact)
        ratios[name] = duration / seconds
    largest = "".join(f"{np.abs(matrix).max():12.1f}" for matrix in exact)
    print(f"{'(the largest entry)':32}{largest}")
    print(
        f"\nThe differences take {ratios['fixed']:.0f} times as long as the analytic derivatives."
    )
    print("The paper: 0.0166 s analytic, 2.62e5 s by jacobianest.")
    for name, matrices in numeric.items():
        report_spikes(name, t, matrices, exact, robot.coordinate_names)

    options.out.mkdir(parents=True, exist_ok=True)
    plot_sensitivities(options.out / "figure4.png", t, FIGURE_4, exact, numeric)
    plot_sensitivities(options.out / "figure5.png", t, FIGURE_5, exact, numeric)
    plot_motion(options.out / "figure6.png", t, state, tau)
    print(f"\nfigures 4 to 6: {options.out}")


if __name__ == "__main__":
    main()
