"""Angles and forces of a planned step beside a measured stride.

    python examples/plan/human_step_figures.py examples/human55.yaml examples/plan/human55_step.yaml

The step begins with the heel strike of the left foot.  After it both legs change places: the stride
of the left leg is its step, and then that of the right leg.  Draws angles of hip, knee and ankle,
forces of the ground and norms of forces in joints over the stride, and prints correlations with
the measured stride (`measured_stride.csv`; its source is there).
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import symgen
from symgen.planning.results import Plan

ANGLES = {"hip": "hip_flexion", "knee": "knee_flexion", "ankle": "ankle_dorsiflexion"}
FORCES = ("vertical", "fore_aft")
MEASURED = Path(__file__).with_name("measured_stride.csv")
GRAVITY = 9.81


def stride_of(plan: Plan, shares: np.ndarray) -> dict[str, np.ndarray]:
    """Return curves of the left leg at shares (K,) of a step, and of the next step, (2 K,).

    Angles are in deg, forces of the ground in % of the weight, forces in joints in N.
    """
    module, motion = plan.module, plan.path.motion(shares)
    names, points = list(module.coordinate_names), plan.task.contacts.names
    wrenches = module.joint_wrenches(motion.q, motion.qd, motion.qdd, loads=motion.loads)
    sizes = np.linalg.norm(wrenches[..., :3], axis=2)
    weight = GRAVITY * sum(module.inertial_parameters[::10])
    ground = 100 / weight * plan.contact_forces_at(shares)
    legs: dict[str, list[np.ndarray]] = {}
    for side, outward in (("l_", 1), ("r_", -1)):
        forces = ground[:, [name.startswith(side) for name in points]].sum(axis=1)
        leg = dict(zip(("fore_aft", "lateral", "vertical"), forces.T, strict=True))
        leg["lateral"] = outward * leg["lateral"]
        for joint, coordinate in ANGLES.items():
            k = names.index(side + coordinate)
            leg |= {joint: np.degrees(motion.q[:, k]), f"force in {joint}": sizes[:, k]}
        for name, values in leg.items():
            legs.setdefault(name, []).append(values)
    return {name: np.concatenate(steps) for name, steps in legs.items()}


def main(model: str, task: str, picture: str = "human_step.png") -> None:
    """Plan the step, draw it, print correlations."""
    plan = symgen.plan(model, task)
    print(plan)
    lines = [line for line in MEASURED.read_text().splitlines() if line[0] != "#"]
    measured = np.genfromtxt(lines, delimiter=",", names=True)
    shares = np.linspace(0, 1, 201)
    stride = stride_of(plan, shares)
    percent = np.concatenate([50 * shares, 50 + 50 * shares])
    figure, axes = plt.subplots(2, 4, figsize=(13, 5.5), layout="constrained")
    panels = dict(zip((*ANGLES, "forces", *FORCES, "lateral"), axes.ravel(), strict=False))
    axes[1, 3].axis("off")
    for name in (*ANGLES, *FORCES):
        planned = np.interp(measured["percent"], percent, stride[name])
        correlation = np.corrcoef(planned, measured[name])[0, 1]
        apart = np.sqrt(np.mean((planned - measured[name]) ** 2))
        print(f"{name:<9} correlation {correlation:5.2f}, rms difference {apart:5.1f}")
        panels[name].plot(percent, stride[name], label="planned")
        panels[name].plot(measured["percent"], measured[name], "k--", label="measured")
        panels[name].set_title(f"{name.replace('_', '-')}, correlation {correlation:.2f}")
        panels[name].set_ylabel("deg" if name in ANGLES else "% of the weight")
    panels["lateral"].plot(percent, stride["lateral"])
    panels["lateral"].set_title("lateral, outward")
    panels["lateral"].set_ylabel("% of the weight")
    for joint in ANGLES:
        panels["forces"].plot(percent, stride[f"force in {joint}"], label=joint)
    panels["forces"].set_title("force in the joints")
    panels["forces"].set_ylabel("N")
    for name in ("hip", "forces"):
        panels[name].legend(fontsize=8)
    for axis in panels.values():
        axis.set_xlabel("% of the stride")
        axis.grid(alpha=0.3)
    figure.savefig(picture, dpi=120)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
