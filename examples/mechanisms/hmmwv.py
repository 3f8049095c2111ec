"""A HMMWV descends a step and changes lanes, with gradients by its springs, dampers and mass.

The manoeuvres of section 10.2 of A. Lopez Varela, D. Dopico and A. Luaces (2023), with a car whose
data are public:

  step   descent of 1 cm at 3 m/s, 4.5 s in steps of 1 ms; the objective is the integral of the
         squared vertical acceleration of a point at the front, eq. (72)
  lane   double lane change of NATO at 12 m/s, 12 s in steps of 10 ms; the objective is the integral
         of the squared roll rate, eq. (74).  Pulses of the rack are fitted to the path, and a
         projected gradient method lowers the objective

Each prints a table and writes a figure and an animation:

    python examples/mechanisms/hmmwv.py step --out FOLDER
    python examples/mechanisms/hmmwv.py lane --out FOLDER
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

try:
    import matplotlib
    import numpy as np
    import xarray as xr
    from scipy.spatial.transform import Rotation
except ImportError as error:
    print(f"{error}: install with `pip install '.[examples]'`", file=sys.stderr)
    raise SystemExit(2) from None

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that it runs from any folder
matplotlib.use("Agg")  # writes files, needs no display
from matplotlib import pyplot as plt

import symgen

Array = np.ndarray
MODEL = Path(__file__).with_name("hmmwv.yaml")
DESIGN = {"k_f": "N/m", "c_f": "N s/m", "k_r": "N/m", "c_r": "N s/m", "m_c": "kg"}
RACK = ("rack_1", "rack_2", "rack_3", "rack_4")
WHEELS = ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")
HOLD = ("chassis_vx", "chassis_vy", "chassis_wz", *WHEELS)  # nothing resists these motions
OUTPUTS = ("x", "y", "z", "acceleration", "roll_rate", "comfort", "roll", "load")
FUNCTIONS = (
    "inverse_dynamics_derivatives", "mass_matrix", "bias_forces", "kinetic_energy",
    "potential_energy", "centroidal_momentum", "center_of_mass", "outputs", "outputs_derivatives",
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_rate_derivatives",
    "constraint_bias", "constraint_acceleration_derivatives", "constraint_torque_derivatives",
    "inverse_dynamics_parameter_derivatives", "constraints_parameter_derivatives",
    "constraint_rates_parameter_derivatives", "constraint_acceleration_parameter_derivatives",
    "constraint_torque_parameter_derivatives", "loop_wrenches",
)  # fmt: skip
LEAD, CHANGE, SIDE, WIDTH = 16.5, 28.93, 25.0, 3.6105
"""Straight ahead of the first lane change, its length, the straight behind it, its width (m)."""
INSTANTS = (2.0, 2.7, 3.4, 5.0, 7.0, 8.0, 9.0, 11.0)
"""Times (s) at which the car is compared with the path."""
BOUND, ITERATIONS = 0.3, 20
"""Largest relative change of a parameter, and largest number of iterations."""


@dataclass(frozen=True)
class Manoeuvre:
    """A motion from equilibrium, raised by `elevation` (m), at `speed` (m/s).

    The wheels turn at speed / `radius` (m), without slip.  It lasts `duration` (s), in steps of
    `step` (s); `objective` is the output whose integral, of the unit `unit`, counts; `parameters`
    are those that differ from the model.
    """

    name: str
    objective: str
    unit: str
    speed: float
    radius: float
    elevation: float
    duration: float
    step: float
    parameters: Mapping[str, float] = field(default_factory=dict)


STEP = Manoeuvre("step", "comfort", "m²/s³", 3.0, 0.461, 0.02, 4.5, 1e-3, {"step_height": 0.01})
LANE = Manoeuvre("lane", "roll", "rad²/s", 12.0, 0.44, 0.0, 12.0, 1e-2, dict.fromkeys(RACK, 0.014))


def vehicle(**options: object) -> ModuleType:
    """Return the module of the car with the functions of both manoeuvres, built where needed."""
    parameters = (*DESIGN, "step_height", *RACK)
    return symgen.load(MODEL, functions=FUNCTIONS, runtime_parameters=parameters, **options)


def motion(
    car: ModuleType, manoeuvre: Manoeuvre, parameters: Mapping[str, float] | None = None,
    sensitivities: Sequence[str] = tuple(DESIGN), step: float | None = None,
    objectives: Sequence[str] = OUTPUTS, all_steps: bool = True,
) -> xr.Dataset:  # fmt: skip
    """Simulate a manoeuvre from the equilibrium of its parameters.

    The start depends on the parameters: `dq0` are derivatives of the equilibrium.  `step` (s)
    replaces that of the manoeuvre.  The result has all steps, or the start and the end alone.
    """
    values = {**manoeuvre.parameters, **(parameters or {})}
    q0, qd0, slopes = start(car, manoeuvre, values)
    columns = [car.parameter_names.index(name) for name in sensitivities]
    step = step or manoeuvre.step
    count = round(manoeuvre.duration / step) if all_steps else 1
    return symgen.simulate(
        car, q0, qd0, np.linspace(0.0, manoeuvre.duration, count + 1), step=step,
        parameters=values, objectives=objectives, sensitivities=sensitivities,
        dq0=slopes[:, columns],
    )  # fmt: skip


def start(
    car: ModuleType, manoeuvre: Manoeuvre, values: Mapping[str, float]
) -> tuple[Array, Array, Array]:
    """Return q0 (nq,), qd0 (n,) of a manoeuvre and the derivatives of q0 by all parameters, (n, p).

    They follow from the equilibrium at these `values` of parameters.
    """
    rest = symgen.equilibrium(car, HOLD, parameters=values)
    slopes = rest.derivatives().dq
    q0, qd0 = rest.q.copy(), np.zeros(car.n)
    # Of the chassis: position in base axes, quaternion, and velocity in its own axes come first.
    # `hold` says where it rests only up to the way there: put it to x = y = 0
    q0[:3] = 0.0, 0.0, q0[2] + manoeuvre.elevation
    turn = Rotation.from_quat(q0[3:7]).as_matrix()
    slopes[:3] = turn.T @ np.diag([0.0, 0.0, 1.0]) @ turn @ slopes[:3]
    qd0[car.coordinate_names.index("chassis_vx")] = manoeuvre.speed
    for wheel in WHEELS:
        qd0[car.coordinate_names.index(wheel)] = manoeuvre.speed / manoeuvre.radius
    return q0, car.closed_velocities(q0, qd0, parameters=all_of(car, values)), slopes


def all_of(car: ModuleType, values: Mapping[str, float]) -> Array:
    """Return all runtime parameters (p,) with these values."""
    pairs = zip(car.parameter_names, car.default_parameters, strict=True)
    return np.array([values.get(name, value) for name, value in pairs])


def objective(run: xr.Dataset, name: str) -> float:
    """Return the integral of an output."""
    return float(run.integral.sel(objective=name))


def gradient(run: xr.Dataset, name: str) -> Array:
    """Return the derivatives (s,) of the integral of an output."""
    return run.integral_gradient.sel(objective=name).values


# ------------------------------------------------------------------------------------ lane change


def path() -> tuple[Array, Array, Array]:
    """Return x, y (m) and dy/dx of the double lane change of NATO, as in Project Chrono.

    Each change is a cubic Bezier curve, whose inner control points are 10 m from its ends.
    """
    s = np.linspace(0.0, 1.0, 2001)
    x = np.array([0.0, 10.0, CHANGE - 10.0, CHANGE])
    weights = np.stack([(1 - s) ** 3, 3 * (1 - s) ** 2 * s, 3 * (1 - s) * s**2, s**3], axis=-1)
    rise = WIDTH * (weights[:, 2] + weights[:, 3])
    first, second = LEAD + weights @ x, LEAD + CHANGE + SIDE + weights @ x
    x = np.concatenate([[0.0], first, second, [200.0]])
    y = np.concatenate([[0.0], rise, WIDTH - rise, [0.0]])
    return x, y, np.gradient(y, x)


def off_path(run: xr.Dataset) -> tuple[Array, Array]:
    """Return the distances y - path(x) (m) at `INSTANTS`, and their derivatives (8, s)."""
    at = run.sel(time=list(INSTANTS), method="nearest")
    (x, y), (d_x, d_y) = (
        (a.sel(output=["x", "y"]).transpose("output", ...).values)
        for a in (at.outputs, at.outputs_gradient)
    )
    known_x, known_y, slope = path()
    distance = y - np.interp(x, known_x, known_y)
    return distance, d_y - np.interp(x, known_x, slope)[:, np.newaxis] * d_x


def follow_path(car: ModuleType) -> Manoeuvre:
    """Fit the four pulses of the rack to the path by the method of Gauss and Newton."""
    pulses = np.array([LANE.parameters[name] for name in RACK])
    for k in range(8):
        values = dict(zip(RACK, map(float, pulses), strict=True))
        distance, slopes = off_path(motion(car, LANE, values, RACK))
        print(
            f"  {k}: rack {', '.join(f'{1e3 * x:.2f}' for x in pulses)} mm; "
            f"at most {np.abs(distance).max():.3f} m off the path"
        )
        change = np.linalg.lstsq(slopes, -distance, rcond=None)[0]
        if np.abs(change).max() < 1e-7:
            break
        pulses = pulses + change
    return Manoeuvre(**{**vars(LANE), "parameters": values})


def lower(car: ModuleType, manoeuvre: Manoeuvre) -> tuple[list[dict[str, float]], list[float]]:
    """Lower the objective by projected gradients; return parameters and objectives by iteration.

    Springs and dampers change by `BOUND` at most.  Steps are of Barzilai and Borwein's length, and
    halved until a fresh simulation without sensitivities shows a sufficient decrease (Armijo).
    It ends before `ITERATIONS` where no motion within the bounds lowers the objective.
    """
    names = [name for name in DESIGN if name != "m_c"]
    start = dict(zip(car.parameter_names, map(float, car.default_parameters), strict=True))
    nominal = np.array([start[name] for name in names])
    name, x = manoeuvre.objective, np.ones(len(names))

    def run(x: Array, sensitivities: Sequence[str]) -> xr.Dataset:
        values = dict(zip(names, map(float, x * nominal), strict=True))
        return motion(car, manoeuvre, values, sensitivities)

    first = run(x, names)
    values, slope = [objective(first, name)], gradient(first, name) * nominal
    points, length = [x], 0.1 / np.abs(slope).max()
    for _ in range(ITERATIONS):
        if np.abs(np.clip(x - length * slope, 1 - BOUND, 1 + BOUND) - x).max() < 1e-9:
            break
        for _ in range(20):
            new = np.clip(x - length * slope, 1 - BOUND, 1 + BOUND)
            trial = objective(run(new, ()), name)
            if trial <= values[-1] - 1e-4 * slope @ (x - new):
                break
            length /= 2
        else:
            break
        accepted = run(new, names)
        if abs(objective(accepted, name) - trial) > 1e-9 * trial:
            raise RuntimeError("simulations with and without sensitivities differ")
        moved, before, slope = new - x, slope, gradient(accepted, name) * nominal
        bend = moved @ (slope - before)
        length = moved @ moved / bend if bend > 0 else 2 * length
        x = new
        points.append(x)
        values.append(trial)
    return [dict(zip(names, map(float, x), strict=True)) for x in points], values


# ---------------------------------------------------------------------------------------- results


def over_time(run: xr.Dataset, name: str) -> tuple[Array, Array]:
    """Return the integral of an output until each instant, (time,), and its gradient, (time, s)."""
    t = run.time.values
    values = run.outputs.sel(output=name).values[:, np.newaxis]
    every = np.hstack([values, run.outputs_gradient.sel(output=name).values])
    steps = 0.5 * np.diff(t)[:, np.newaxis] * (every[1:] + every[:-1])
    sums = np.vstack([np.zeros(every.shape[1]), np.cumsum(steps, axis=0)])
    return sums[:, 0], sums[:, 1:]


def report(car: ModuleType, manoeuvre: Manoeuvre) -> list[xr.Dataset]:
    """Print objective, gradients and times; return the motions with whole, half, quarter steps."""
    name = manoeuvre.objective
    runs = [motion(car, manoeuvre, step=manoeuvre.step / k) for k in (1, 2, 4)]
    print(f"\n{'step':>9}{'integral':>14}" + "".join(f"{f'by {x}':>14}" for x in DESIGN))
    for k, run in zip((1, 2, 4), runs, strict=True):
        print(
            f"{1e3 * manoeuvre.step / k:6g} ms{objective(run, name):14.8f}"
            + "".join(f"{x:14.5e}" for x in gradient(run, name))
        )
    a, b, c = (objective(run, name) for run in runs)
    print(f"halved steps change the integral by a ratio of {(a - b) / (b - c):.2f}")
    print(f"constraints are violated by {float(runs[0].violation.max()):.0e} at most")
    for columns in ((), tuple(DESIGN)):
        begin = time.process_time()
        motion(car, manoeuvre, {}, columns, objectives=(name,), all_steps=False)
        seconds = time.process_time() - begin
        print(f"{seconds:.2f} s of processor time with {len(columns)} sensitivities")
    return runs


def plot(file: Path, manoeuvre: Manoeuvre, runs: Sequence[xr.Dataset], top: Sequence) -> None:
    """Plot two curves of the motion (drawn by `top`), the objective and its gradients over time."""
    figure, axes = plt.subplots(4, 2, figsize=(12, 12), layout="constrained")
    for draw, ax in zip(top, axes[0], strict=True):
        draw(ax)
    titles = ["ψ", *(f"dψ/d{name}" for name in DESIGN)]
    units = [manoeuvre.unit, *(f"{manoeuvre.unit} / ({unit})" for unit in DESIGN.values())]
    styles = (
        {"color": "0.75", "linewidth": 5},
        {"color": "C1", "linestyle": "--"},
        {"color": "C0"},
    )
    for k, run, style in zip((4, 2, 1), reversed(runs), styles, strict=True):
        value, slopes = over_time(run, manoeuvre.objective)
        for ax, curve, title, unit in zip(
            axes.flat[2:], [value, *slopes.T], titles, units, strict=True
        ):
            ax.plot(run.time, curve, label=f"{1e3 * manoeuvre.step / k:g} ms", **style)
            ax.set(title=title, ylabel=unit, xlabel="t (s)", xlim=(0, manoeuvre.duration))
    axes[1, 0].legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def curve(run: xr.Dataset, name: str, title: str, unit: str):
    """Return a function that plots an output over time."""

    def draw(ax: plt.Axes) -> None:
        ax.plot(run.time, run.outputs.sel(output=name))
        ax.set(title=title, ylabel=unit, xlabel="t (s)", xlim=(0, float(run.time[-1])))

    return draw


def animate(car: ModuleType, manoeuvre: Manoeuvre, run: xr.Dataset, file: Path, title: str) -> None:
    """Write the motion, some 450 instants of it, as a page that plays it."""
    thin = run.isel(time=slice(None, None, max(1, run.sizes["time"] // 450)))
    symgen.animate(car, thin, file, title=title, parameters=dict(manoeuvre.parameters))


def step(car: ModuleType, out: Path) -> None:
    """Descend the step."""
    runs = report(car, STEP)
    height = curve(runs[0], "z", "height of the chassis' origin", "m")
    shock = curve(runs[0], "acceleration", "vertical acceleration at the front", "m/s²")
    plot(out / "step.png", STEP, runs, (height, shock))
    animate(car, STEP, runs[0], out / "step.html", "Descent of a step of 1 cm")


def lane(car: ModuleType, out: Path) -> None:
    """Change lanes twice, and lower the roll."""
    print("\npulses of the rack, fitted to the path:")
    manoeuvre = follow_path(car)
    runs = report(car, manoeuvre)

    def track(ax: plt.Axes) -> None:
        x, y, _ = path()
        ax.plot(x, y, color="0.75", linewidth=5, label="path")
        at = runs[0].outputs.sel(output=["x", "y"])
        ax.plot(*at.values.T, label="car")
        ax.plot(*at.sel(time=list(INSTANTS), method="nearest").values.T, "k.", label="fitted here")
        ax.set(title="from above", xlabel="x (m)", ylabel="y (m)", xlim=(0, at.values[-1, 0]))
        ax.legend()

    rate = curve(runs[0], "roll_rate", "roll rate", "rad/s")
    plot(out / "lane.png", manoeuvre, runs, (track, rate))
    animate(car, manoeuvre, runs[0], out / "lane.html", "Double lane change at 12 m/s")
    points, values = lower(car, manoeuvre)
    print(f"\n{'iteration':>9}{'integral':>14}" + "".join(f"{name:>9}" for name in points[0]))
    for k, (point, value) in enumerate(zip(points, values, strict=True)):
        print(f"{k:9}{value:14.8f}" + "".join(f"{x:9.4f}" for x in point.values()))
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    left.plot(values, marker="o")
    left.set(title="∫ roll rate² dt", xlabel="iteration", ylabel=manoeuvre.unit)
    for name in points[0]:
        right.plot([point[name] for point in points], marker=".", label=name)
    right.set(title="parameters, relative to the car's", xlabel="iteration")
    right.legend()
    figure.savefig(out / "roll.png", dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manoeuvre", choices=("step", "lane"))
    parser.add_argument(
        "--out", type=Path, default=Path("hmmwv"), metavar="FOLDER",
        help="where figures and animations go (default: %(default)s)",
    )  # fmt: skip
    options = parser.parse_args()
    print("building the module", flush=True)
    begin = time.perf_counter()
    car = vehicle()
    print(f"{car.name}: {car.n} velocities, {time.perf_counter() - begin:.0f} s to build or load")
    rest = symgen.equilibrium(car, HOLD)
    print(
        f"{len(car.constraint_names)} constraints, {car.freedoms(rest.q)} freedoms; at rest the "
        f"chassis is at z = {rest.q[car.position_names.index('chassis_z')]:.4f} m"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    {"step": step, "lane": lane}[options.manoeuvre](car, options.out)
    print(f"\nfigures and animations: {options.out}")


if __name__ == "__main__":
    main()
