"""Mechanisms with closed loops: five seconds of the five-bar linkage, and one evaluation of it.

    python -m benchmarks.mechanisms                  # part of `make bench`

The linkage is that of Lopez Varela, Dopico and Luaces (2023), section 10.1, with steps of 1 ms on
one core: symgen with and without the sensitivities and integrals of that paper, MuJoCo (`connect`,
springs as tendons) and Exudyn (trapezoidal rule, index 2) without.  Beside the time stands how far
the loop is open at the end, and how far point 2 is from where the adaptive way of symgen has it.

The same five seconds, and both manoeuvres of examples/mechanisms/hmmwv.py, with coordinates of
joints (`semi_recursive`) and with natural coordinates, as in tables 8 and 10 of that paper.

One evaluation: accelerations and multipliers, and their derivatives, called from Python beside
Pinocchio's `constraintDynamics`.  Pinocchio has no springs; symgen has them and computes them.
"""

import argparse
import contextlib
import io
import time
from pathlib import Path

import numpy as np

import symgen
from benchmarks.interface import CALL, Case
from benchmarks.machine import machine
from benchmarks.timing import (
    QUICK,
    Effort,
    interleaved,
    python_loop,
    ratio_within_rounds,
    single_threaded,
)

MODEL = Path(__file__).parents[1] / "examples" / "mechanisms" / "five_bar.yaml"
NAMES = ("L_s1", "L_s2", "m", "x_G", "L_A1")
END, STEP, STEPS = 5.0, 1e-3, 5000
LONG, BAR = np.sqrt(3.25), np.sqrt(2.0)
STARTS = {"A": -3 * np.pi / 4, "B": -np.pi / 4}
"""Angles of the bars A1 and B3; the bars 12 and 32 have these, from the axis x."""
INNER = {"A": -np.arctan(2 / 3), "B": np.arctan(2 / 3) - np.pi}

MJCF = f"""
<mujoco>
  <compiler angle="radian"/>
  <option timestep="{STEP}" gravity="0 -9.81 0"><flag contact="disable"/></option>
  <worldbody>
    <site name="B" pos="1 0 0"/>
    {{arms}}
  </worldbody>
  <equality><connect body1="A2" body2="B2" anchor="{LONG} 0 0"/></equality>
  <tendon>
    <spatial name="s1" stiffness="100" springlength="{np.sqrt(5)}">
      <site site="B"/><site site="one"/></spatial>
    <spatial name="s2" stiffness="100" springlength="{np.sqrt(4.25)}">
      <site site="B"/><site site="two"/></spatial>
  </tendon>
</mujoco>
"""
ARM = """
    <body name="{name}1" pos="{x} 0 0" euler="0 0 {first}">
      <joint axis="0 0 1"/>
      <inertial pos="{half} 0 0" mass="1" diaginertia="1 1 {inner}"/>
      {site1}
      <body name="{name}2" pos="{bar} 0 0" euler="0 0 {second}">
        <joint axis="0 0 1"/>
        <inertial pos="{middle} 0 0" mass="1.5" diaginertia="1 1 {outer}"/>
        {site2}
      </body>
    </body>
"""


def linkage():
    """The module, where it begins, and how the start varies with the length of A1."""
    module = symgen.load(MODEL, runtime_parameters=",".join(NAMES))
    q = module.assemble()
    closing = module.closing_derivatives(q, hold=["A", "one"])
    return module, q, {"L_A1": closing[:, module.parameter_names.index("L_A1")]}


def seconds(call, rounds):
    """The least processor time of so many calls, and the last result."""
    best, result = np.inf, None
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def point(module, q):
    """Point 2 by the left arm, and how far it is from that by the right one."""
    still = np.zeros(4)
    return module.point_motion(q, still, still)[0][0, :2], np.abs(module.constraints(q)).max()


def by_symgen(rounds):
    """(what, seconds, loop open by, point 2)"""
    module, q, start = linkage()
    given = {"step": STEP}
    ways = {
        "symgen, five sensitivities and three objectives": {
            "sensitivities": NAMES, "dq0": start, "objectives": "all",
        },
        "symgen": {},
    }  # fmt: skip
    for what, more in ways.items():
        taken, found = seconds(
            lambda more=more: symgen.simulate(
                module, q, np.zeros(4), [0, END], **given, **more
            ),
            rounds,
        )  # fmt: skip
        at, opened = point(module, found.q.values[-1])
        yield what, taken, opened, at


def by_mujoco(rounds):
    """The same by MuJoCo, in one call of its loop in C."""
    import mujoco

    arms = "".join(
        ARM.format(
            name=name, x=x, first=STARTS[name], second=INNER[name] - STARTS[name], bar=BAR,
            half=BAR / 2, middle=LONG / 2, inner=2 / 12, outer=1.5 * 3.25 / 12,
            site1=f'<site name="one" pos="{BAR} 0 0"/>' * (name == "A"),
            site2=f'<site name="two" pos="{LONG} 0 0"/>' * (name == "A"),
        )
        for name, x in (("A", 0), ("B", 1))
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_string(MJCF.format(arms=arms))
    data = mujoco.MjData(model)

    def run():
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=STEPS)

    taken, _ = seconds(run, rounds)
    mujoco.mj_forward(model, data)
    ends = [
        data.body(name).xpos + data.body(name).xmat.reshape(3, 3)[:, 0] * LONG
        for name in ("A2", "B2")
    ]
    opened = np.linalg.norm(ends[0] - ends[1])
    yield f"MuJoCo {mujoco.__version__}", taken, opened, ends[0][:2]


def by_exudyn(rounds):
    """The same by Exudyn: three numbers for every bar, joints between them."""
    import exudyn

    items = exudyn.itemInterface

    def run():
        system = exudyn.SystemContainer().AddSystem()
        base = system.AddObject(items.ObjectGround())

        def marker(body, x):
            given = items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0])
            return system.AddMarker(given)

        def joint(one, other):
            system.AddObject(items.RevoluteJoint2D(markerNumbers=[one, other]))

        ends = {}
        for name, x in (("A", 0.0), ("B", 1.0)):
            at, last = np.array([x, 0.0]), marker(base, x)
            bars = ((1.0, BAR, 2 / 12, STARTS), (1.5, LONG, 1.5 * 3.25 / 12, INNER))
            for k, (mass, length, inertia, angles) in enumerate(bars):
                way = np.array([np.cos(angles[name]), np.sin(angles[name])]) * length
                place = [*(at + way / 2), angles[name]]
                node = system.AddNode(items.Rigid2D(referenceCoordinates=place))
                body = system.AddObject(
                    items.RigidBody2D(mass=mass, inertia=inertia, nodeNumber=node)
                )
                weight = marker(body, 0.0)
                system.AddLoad(items.Force(markerNumber=weight, loadVector=[0, -9.81 * mass, 0]))
                joint(last, marker(body, -length / 2))
                last, at = marker(body, length / 2), at + way
                ends[name, k] = last, body, length
        joint(ends["A", 1][0], ends["B", 1][0])
        for k, rest in ((0, np.sqrt(5)), (1, np.sqrt(4.25))):
            markers = [marker(base, 1.0), ends["A", k][0]]
            system.AddObject(
                items.SpringDamper(markerNumbers=markers, stiffness=100.0, referenceLength=rest)
            )
        system.Assemble()
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.endTime = END
        settings.timeIntegration.numberOfSteps = STEPS
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
        taken = time.process_time() - start
        tips = []
        for name in ("A", "B"):
            _, body, length = ends[name, 1]
            tips.append(
                system.GetObjectOutputBody(
                    body, exudyn.OutputVariableType.Position, [length / 2, 0, 0]
                )
            )
        return taken, tips

    taken, tips = min((run() for _ in range(rounds)), key=lambda item: item[0])
    yield f"Exudyn {exudyn.__version__}", taken, np.linalg.norm(tips[0] - tips[1]), tips[0][:2]


def motions(rounds):
    """Print the table of five seconds."""
    module, q, _ = linkage()
    exact = symgen.simulate(module, q, np.zeros(4), [0, END], rtol=1e-12, atol=1e-12)
    wanted, _ = point(module, exact.q.values[-1])
    title = "five seconds of the five-bar linkage"
    print(f"\n{title:50} {'s':>8} {'loop open by':>13} {'off by':>9}")
    for contestant in (by_symgen, by_mujoco, by_exudyn):
        try:
            for what, taken, opened, at in contestant(rounds):
                off = np.linalg.norm(at - wanted)
                print(f"{what:50} {taken:8.4f} {opened:11.1e} m {off:7.1e} m", flush=True)
        except ImportError as error:
            print(f"{contestant.__name__.removeprefix('by_'):50} not measured: {error}")


def both(model, functions, names):
    """Modules with coordinates of joints, by semi_recursive but outputs, and with natural ones."""
    given = {"functions": (*functions, "link_motion"), "runtime_parameters": ",".join(names)}
    return tuple(
        symgen.load(model, formulations=formulations, **given)
        for formulations in ("semi_recursive,newton_euler", "natural_coordinates")
    )


def five_bar():
    """Modules, starts in both coordinates, and what both simulations take."""
    modules = both(MODEL, ("default",), NAMES)
    _, q, start = linkage()
    dq = np.outer(start["L_A1"], np.array(NAMES) == "L_A1")
    options = {"t": [0, END], "step": STEP, "objectives": "all"}
    return modules, (q, np.zeros(4), dq), NAMES, {}, options


def vehicle(name):
    """The same of a manoeuvre of the vehicle: STEP or LANE."""
    from examples.mechanisms import hmmwv  # needs matplotlib

    manoeuvre = getattr(hmmwv, name)
    modules = both(hmmwv.MODEL, hmmwv.FUNCTIONS, (*hmmwv.DESIGN, "step_height", *hmmwv.RACK))
    values, names = dict(manoeuvre.parameters), tuple(hmmwv.DESIGN)
    q, qd, slopes = hmmwv.start(modules[0], manoeuvre, values)
    dq = slopes[:, [modules[0].parameter_names.index(name) for name in names]]
    options = {
        "t": [0, manoeuvre.duration], "step": manoeuvre.step, "objectives": [manoeuvre.objective],
        "parameters": values,
    }  # fmt: skip
    return modules, (q, qd, dq), names, values, options


def formulations(rounds):
    """Print what both formulations take for the same motions, in one run."""
    title, sizes = "seconds of all steps, with five sensitivities", f"{'n':>4} {'m':>4}"
    print(f"\n{title:46} {sizes} {'joints':>8} {sizes} {'natural':>8} {'ratio':>6}")
    cases = {
        "five-bar linkage, 5000 steps": five_bar,
        "vehicle, step descent, 4500 steps": lambda: vehicle("STEP"),
        "vehicle, double lane change, 1200 steps": lambda: vehicle("LANE"),
    }
    for what, case in cases.items():
        (joints, natural), (q, qd, dq), names, values, options = case()
        defaults = zip(joints.parameter_names, joints.default_parameters, strict=True)
        parameters = np.array([values.get(name, value) for name, value in defaults])
        of = {"parameters": parameters, "sensitivities": names, "dq": dq}
        z, zd, dz, dzd = symgen.to_natural(joints, natural, q, qd, **of)
        starts = (joints, q, qd, dq, None), (natural, z, zd, dz, dzd)
        taken = [np.inf, np.inf]
        for _ in range(rounds):
            for k, (module, at, rate, slopes, rates) in enumerate(starts):
                start = time.process_time()
                symgen.simulate(
                    module, at, rate, **options, sensitivities=names, dq0=slopes, dqd0=rates
                )
                taken[k] = min(taken[k], time.process_time() - start)
        sizes = [
            f"{x.n:4} {len(x.constraint_names):4} {s:8.3f}"
            for (x, *_), s in zip(starts, taken, strict=True)
        ]
        print(f"{what:46} {sizes[0]} {sizes[1]} {taken[1] / taken[0]:6.2f}", flush=True)


def pinocchio_linkage():
    """The linkage without springs: model, data, and what the functions of constraints take."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    tips = []
    for x in (0.0, 1.0):
        joint, place = 0, np.array([x, 0.0, 0.0])
        for mass, length, inertia in ((1.0, BAR, 2 / 12), (1.5, LONG, 1.5 * 3.25 / 12)):
            axis = pin.JointModelRZ()
            joint = model.addJoint(joint, axis, pin.SE3(np.eye(3), place), f"j{model.njoints}")
            moments, middle = np.diag([1.0, 1.0, inertia]), np.array([length / 2, 0, 0])
            model.appendBodyToJoint(joint, pin.Inertia(mass, middle, moments), pin.SE3.Identity())
            place = np.array([length, 0.0, 0.0])
        tips.append((joint, pin.SE3(np.eye(3), place)))
    loop = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, *tips[0], *tips[1], pin.ReferenceFrame.LOCAL
    )
    loops, memory = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    loops.append(loop)
    memory.append(loop.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, loops, memory)
    return pin, (model, data, loops, memory)


def evaluations(effort):
    """Print what one evaluation takes, from Python."""
    module, q, _ = linkage()
    qd = module.closed_velocities(q, np.ones(4))
    tau = np.zeros(4)
    names = {"f": module.constrained_forward_dynamics, "q": q, "v": qd, "u": tau}
    slopes = {**names, "f": module.constrained_forward_dynamics_derivatives}
    call = "f(q, v, u)"
    statements = {"symgen": (call, names), "symgen, derivatives": (call, slopes)}
    try:
        pin, (model, data, loops, memory) = pinocchio_linkage()
    except ImportError as error:
        print(f"Pinocchio not measured: {error}")
    else:
        start = np.array([STARTS["A"], INNER["A"] - STARTS["A"]])
        start = np.append(start, [STARTS["B"], INNER["B"] - STARTS["B"]])
        given = {"m": model, "d": data, "l": loops, "k": memory, "q": start, "v": qd, "u": tau}
        run = "f(m, d, q, v, u, l, k)"
        statements["Pinocchio"] = run, {**given, "f": pin.constraintDynamics}
        both = f"{run}; g(m, d, l, k)"
        statements["Pinocchio, derivatives"] = both, {
            **given, "f": pin.constraintDynamics, "g": pin.computeConstraintDynamicsDerivatives,
        }  # fmt: skip
    cases = [
        Case(name, "constrained", CALL, 1, python_loop(statement, **given), tuple)
        for name, (statement, given) in statements.items()
    ]
    timings = {t.case.contestant: t for t in interleaved(cases, effort)}
    print(f"\n{'one evaluation of the five-bar linkage':50} {'ns':>8} {'/ symgen':>13}")
    for name, timing in timings.items():
        own = timings["symgen, derivatives" if "derivatives" in name else "symgen"]
        print(f"{name:50} {timing.minimum:8.0f} {ratio_within_rounds(timing, own):13.2f}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    given = parser.parse_args(arguments)
    single_threaded()
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    evaluations(QUICK if given.quick else Effort())
    motions(2 if given.quick else 15)
    formulations(1 if given.quick else 3)


if __name__ == "__main__":
    main()
