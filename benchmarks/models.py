"""Models for benchmarks: general chains and trees with all inertial parameters non-zero."""

import io
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]

# parents of the 43 joints of the human in the open-tree paper (joint parent matrix, eq. (18))
HUMAN43 = (
    *range(13), 5, *range(14, 21), 5, *range(22, 31), 22, *range(32, 40), 22, 41, 42
)  # fmt: skip


# legs of three joints; two legs of six joints, a waist of three that bears a head and two arms
QUADRUPED = tuple(k if k % 3 else 0 for k in range(12))
HUMANOID = (
    0, *range(1, 6), 0, *range(7, 12), 0, 13, 14, 15, 16, 15, *range(18, 24), 15, *range(25, 31)
)  # fmt: skip


def spatial_tree(parents, name, seed=0, quarter_turns=False, free=False):
    """Text of a model of revolute joints with random DH rows and random physical inertias.

    With `quarter_turns` axes are twisted by 90 degrees to one side and the other, as in most arms;
    with `free` the base is a body that moves freely, with a quaternion.
    """
    rng = np.random.default_rng(seed)
    lines = ["symgen: 1", f"name: {name}", "convention: standard", "joints:"]
    base = "body" if free else "base"
    if free:
        lines.append(
            "  - {name: body, type: floating, coordinates: quaternion, origin: {}, "
            "link: {mass: 9.5, com: [0.02, -0.01, 0.03], "
            "inertia: {xx: 0.21, yy: 0.34, zz: 0.28, xy: 0.01, xz: -0.02, yz: 0.015}}}"
        )
    for number, parent in enumerate(parents, start=1):
        a, d, alpha = rng.uniform(0.1, 0.4), rng.uniform(-0.2, 0.2), rng.uniform(-1.5, 1.5)
        twist = repr(float(alpha))
        if quarter_turns:
            twist = "pi/2" if number % 2 else "-pi/2"
        root = rng.normal(size=(3, 3)) * 0.1
        inertia = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        com = ", ".join(repr(float(x)) for x in rng.uniform(-0.2, 0.2, 3))
        entries = ", ".join(
            f"{key}: {float(inertia[i, k])!r}"
            for key, i, k in zip(
                ("xx", "yy", "zz", "xy", "xz", "yz"), (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2),
                strict=True,
            )
        )  # fmt: skip
        lines.append(
            f"  - {{name: j{number}, type: revolute, parent: {f'j{parent}' if parent else base}, "
            f"dh: {{theta: 0.1, d: {float(d)!r}, a: {float(a)!r}, alpha: {twist}}}, "
            f"link: {{mass: {float(rng.uniform(0.5, 3.0))!r}, com: [{com}], "
            f"inertia: {{{entries}}}}}}}"
        )
    return "\n".join(lines) + "\n"


def chain(joints, folder):
    """The path of a general chain, written into `folder`."""
    return _written(range(joints), f"chain{joints}")(folder)


def _written(parents, name, **options):
    def write(folder):
        path = Path(folder) / f"{name}.yaml"
        path.write_text(spatial_tree(parents, name, **options))
        return path

    return write


MODELS = {
    "two_link": lambda folder: ROOT / "examples" / "two_link.yaml",
    "puma560": lambda folder: ROOT / "examples" / "puma560.yaml",
    "arm7": lambda folder: ROOT / "examples" / "arm7.yaml",
    "arm24": _written(range(24), "arm24", quarter_turns=True),
    "human43": lambda folder: ROOT / "examples" / "human43.yaml",
    "quadruped": _written(QUADRUPED, "quadruped", quarter_turns=True, free=True),
    "humanoid": _written(HUMANOID, "humanoid", quarter_turns=True, free=True),
    "chain6": _written(range(6), "chain6"),
    "chain7": _written(range(7), "chain7"),
    "chain24": _written(range(24), "chain24"),
    "tree43": _written(HUMAN43, "tree43"),
}


ARGUMENTS_OF_THEIR_OWN = ("loads", "points", "outputs")
"""What the files of the examples show, and other libraries have no words for."""


def without_loads(name, folder):
    """The path of a copy of a model without what adds arguments to its functions."""
    yaml = YAML()
    model = yaml.load(MODELS[name](folder))
    for key in ARGUMENTS_OF_THEIR_OWN:
        model.pop(key, None)
    path = Path(folder) / f"{name}.yaml"
    text = io.StringIO()
    yaml.dump(model, text)
    path.write_text(text.getvalue())
    return path
