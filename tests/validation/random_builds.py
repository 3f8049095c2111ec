"""Random legal models of every kind, each built with validation: none may be refused.

    python -m tests.validation.random_builds --models 2000 --seed 1 --log builds.jsonl

Model `k` of a seed is the same everywhere.  Models that are in the log already are not built again.
The exit status is 1 if a model was refused or crashed."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from symgen.errors import SymgenError, ValidationError
from symgen.options import BuildOptions
from symgen.pipeline.building import build
from symgen.runtime.comparison import HIDDEN

TYPES = (
    "revolute", "revolute", "prismatic", "fixed", "universal", "cylindrical", "spherical",
    "floating", "planar", "helical", "ball", "free",
)  # fmt: skip
COORDINATES = {
    "revolute": 1, "prismatic": 1, "helical": 1, "fixed": 0, "universal": 2, "cylindrical": 2,
    "planar": 3, "spherical": 3, "ball": 3, "floating": 6, "free": 6,
}  # fmt: skip
SINGLE = ("revolute", "prismatic", "helical")
SEQUENCES = ("zyx", "xyz", "zxz", "zyz", "xzx", "yxz")
LOOPS = ("revolute", "spherical", "universal", "prismatic", "cylindrical", "planar", "fixed")


class Generator:
    """One random model: `data` is what its file holds."""

    def __init__(self, seed: int, number: int, largest: int) -> None:
        self.rng = np.random.default_rng([seed, number])
        self.largest = largest
        self.length = 10.0 ** self.rng.uniform(-3, 3) if self.chance(0.6) else 1.0
        self.mass = 10.0 ** self.rng.uniform(-3, 3) if self.chance(0.6) else 1.0
        self.uneven = self.chance(0.3)
        self.data: dict[str, Any] = {"symgen": 1, "name": f"random_{seed}_{number}", "joints": []}
        self.singles: list[str] = []
        self.kind = self.pick(("tree", "tree", "tree", "forces", "loop"))
        self.build()

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def vector(self, size: float) -> list[float]:
        return [float(x) for x in self.rng.uniform(-size, size, 3)]

    def axis(self) -> list[float]:
        """Any direction; often a coordinate axis, and sometimes close to one."""
        if self.chance(0.4):
            axis = np.eye(3)[int(self.rng.integers(3))] * self.pick((1.0, -1.0))
            if self.chance(0.5):
                axis = axis + self.rng.uniform(-1, 1, 3) * 10.0 ** self.rng.uniform(-12, -1)
            return [float(x) for x in axis]
        return [float(x) for x in self.rng.normal(size=3)]

    def pose(self) -> dict[str, Any]:
        exact = (0.0, math.pi / 2, -math.pi / 2, math.pi)
        rpy = [self.pick(exact) if self.chance(0.4) else float(self.rng.uniform(-3, 3))
               for _ in range(3)]  # fmt: skip
        xyz = [0.0 if self.chance(0.3) else x for x in self.vector(self.length)]
        return {"xyz": xyz, **({"rpy": rpy} if self.chance(0.7) else {})}

    def link(self, name: str) -> dict[str, Any]:
        """A body of five point masses."""
        uneven = 10.0 ** self.rng.uniform(-2, 2) if self.uneven else 1.0
        mass = float(self.mass * uneven * self.rng.uniform(0.1, 3))
        points = self.rng.uniform(-0.4, 0.4, (5, 3)) * self.length
        points -= points.mean(axis=0)
        tensor = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points) * mass / 5
        tensor = tensor + 1e-3 * mass * self.length**2 * np.eye(3)
        entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2),
                   "yz": (1, 2)}  # fmt: skip
        inertia = {key: float(tensor[at]) for key, at in entries.items()}
        return {"name": name, "mass": mass, "com": self.vector(0.4 * self.length),
                "inertia": inertia}  # fmt: skip

    def joint(self, number: int, kind: str, parent: str) -> dict[str, Any]:
        shown = {"ball": "spherical", "free": "floating"}.get(kind, kind)
        joint: dict[str, Any] = {"name": f"j{number}", "parent": parent, "type": shown}
        joint["origin"] = self.pose()
        if kind in ("ball", "free"):
            joint["coordinates"] = "quaternion"
        elif kind in ("spherical", "floating") and self.chance(0.7):
            joint["sequence"] = self.pick(SEQUENCES)
        elif kind in ("revolute", "prismatic", "cylindrical", "planar", "helical"):
            joint["axis"] = self.axis()
        if kind == "helical":
            joint["pitch"] = float(self.rng.uniform(-0.1, 0.1) * self.length)
        joint["link"] = self.link(f"L{number}")
        unit = self.mass * self.length**2
        if kind != "fixed":
            terms = (
                ("damping", unit, 0.2), ("rotor_inertia", 0.1 * unit, 0.15),
                ("friction", unit, 0.15), ("stiffness", 10 * unit, 0.2),
            )  # fmt: skip
            for key, size, share in terms:
                if self.chance(share) and not (kind == "free" and key == "rotor_inertia"):
                    joint[key] = float(self.rng.uniform(0, size))
            if "friction" in joint and self.chance(0.7):
                joint["friction_velocity"] = float(self.rng.uniform(0.05, 1))
            if "rotor_inertia" in joint and self.chance(0.7):
                joint["gear_ratio"] = float(self.rng.uniform(-20, 20))
        if kind in SINGLE and self.singles and self.chance(0.15):
            for key in ("damping", "rotor_inertia", "friction", "stiffness",
                        "friction_velocity", "gear_ratio"):  # fmt: skip
                joint.pop(key, None)
            multiplier = float(self.pick((-1.0, 1.0, self.rng.uniform(-2, 2))))
            joint["mimic"] = {"coordinate": self.pick(self.singles), "multiplier": multiplier,
                              "offset": float(self.rng.uniform(-1, 1))}  # fmt: skip
        elif kind in SINGLE:
            if self.kind != "loop" and self.chance(0.1):
                joint["prescribed"] = True
            self.singles.append(f"j{number}")
        return joint

    def build(self) -> None:
        data, n, wanted = self.data, 0, int(self.rng.integers(1, self.largest + 1))
        data["gravity"] = self.vector(10) if self.chance(0.8) else [0.0, 0.0, 0.0]
        links = ["base"]
        while n < wanted or len(links) < (3 if self.kind == "loop" else 2):
            kind = self.pick(TYPES)
            if n + COORDINATES[kind] > max(wanted, 6):
                kind = self.pick(SINGLE)
            parent = links[-1] if self.chance(0.7) else self.pick(links)
            joint = self.joint(len(links), kind, parent)
            data["joints"].append(joint)
            links.append(joint["link"]["name"])
            n += 0 if "mimic" in joint else COORDINATES[kind]
            if len(links) > 12:
                break
        self.add_parameters()
        data["points"] = [{"name": f"p{i}", "link": self.pick(links[1:]),
                           "point": self.vector(self.length)} for i in range(2)]  # fmt: skip
        data["loads"] = [{"name": f"w{i}", "link": self.pick(links[1:]),
                          "point": self.vector(self.length)}
                         for i in range(int(self.rng.integers(0, 3)))]  # fmt: skip
        if self.kind == "forces":
            self.add_forces(links)
        if self.kind == "loop":
            self.add_loops(links)

    def add_parameters(self) -> None:
        self.data["parameters"] = {"pm": 1.0, "px": 0.5 * self.length}
        link = self.pick(self.data["joints"])["link"]
        link["mass"] = f"pm*{link['mass']!r}"
        link["com"][0] = f"px + {link['com'][0]!r}"

    def add_forces(self, links: list[str]) -> None:
        unit, length = self.mass * 10.0, self.length
        self.data["springs"] = [{
            "name": "s0", "between": [{"link": a, "point": self.vector(length)},
                                      {"link": b, "point": self.vector(length)}],
            "stiffness": float(self.rng.uniform(0, unit / length * 10)),
            "damping": float(self.rng.uniform(0, unit / length)),
            "length": float(self.rng.uniform(0, length)),
        } for a, b in [(links[0], links[-1])]]  # fmt: skip
        at = f"points.p0.z/({length!r})"
        cubic = float(self.rng.uniform(-1, 1)) * unit
        normal = f"{unit!r}*({at}) + {0.5 * unit!r}*({at})**2 + ({cubic!r})*({at})**3"
        self.data["forces"] = [{
            "name": "tyre", "point": "p0", "let": {"f": normal},
            "force": [f"-0.1*f*tanh(points.p0.vx/({length!r}))", 0, "f"],
        }]  # fmt: skip

    def add_loops(self, links: list[str]) -> None:
        """Loops that random positions need not close, and relations."""
        first, second = (links[-1], self.pick(links[:-1]))
        kind = self.pick((*LOOPS, "distance"))
        ends = [{"link": x, "origin": self.pose()} for x in (first, second)]
        loop = {"name": "c0", "type": kind}
        if kind == "distance":
            loop["length"] = float(self.length)
            ends = [{"link": x["link"], "origin": {"xyz": self.vector(self.length)}} for x in ends]
        elif kind not in ("spherical", "fixed"):
            ends = [{**end, "axis": self.axis()} for end in ends]
        self.data["loops"] = [{**loop, "first": ends[0], "second": ends[1]}]
        if kind in ("fixed", "revolute", "universal") and self.chance(0.6):  # redundant
            ends = [{"link": x["link"], "origin": x["origin"]} for x in ends]
            again = {"name": "c1", "type": "spherical", "first": ends[0], "second": ends[1]}
            self.data["loops"].append(again)
        if len(self.singles) > 1 and self.chance(0.5):
            a, b = self.singles[:2]
            self.data["relations"] = {"gear": f"q.{a} - 0.5*sin(q.{b})"}


def outcome(task: tuple[int, int, int, str]) -> dict[str, Any]:
    seed, number, largest, backend = task
    start, line = time.process_time(), {"seed": seed, "model": number}
    try:
        model = Generator(seed, number, largest)
        line["kind"] = model.kind
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{model.data['name']}.yaml"
            path.write_text(json.dumps(model.data, indent=1), encoding="utf-8")
            line |= _built(path, model, backend)
    except ValidationError as error:
        rows = error.result.failures
        worst = max(rows, key=lambda x: x.error / x.limit if x.limit else math.inf)
        ratio = worst.error / worst.limit if worst.limit else math.inf
        line |= {"outcome": "refused", "ratio": ratio, "row": str(worst), "rows": len(rows)}
    except SymgenError as error:
        line |= {"outcome": "illegal", "row": str(error)[:300]}
    except Exception:
        line |= {"outcome": "crashed", "row": traceback.format_exc()[-600:]}
    line["seconds"] = round(time.process_time() - start, 2)
    return line


def _built(path: Path, model: Generator, backend: str) -> Mapping[str, Any]:
    runtime = model.pick(("all", "none"))
    options = BuildOptions(
        out=path.parent / "generated", backend=backend, functions=("all",),
        runtime_parameters=(runtime,), force=True,
    )  # fmt: skip
    result = build(path, options).validation
    closest = result.closest
    ratio = 0.0 if closest is None else closest.error / closest.limit
    blind = [x for x in result.left_out if HIDDEN in x]
    return {"outcome": "passed", "ratio": ratio, "row": str(closest), "checks": len(result.rows),
            "blind": len(blind)}  # fmt: skip


def main() -> int:
    """Build the models, show what was refused, and count."""
    parser = argparse.ArgumentParser(description="build random legal models with validation")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=8, help="coordinates, about")
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("random_builds.jsonl"))
    given = parser.parse_args()
    given.log.touch()
    lines = [json.loads(x) for x in given.log.read_text().splitlines()]
    done = {(x["seed"], x["model"]) for x in lines}
    numbers = [k for k in range(given.models) if (given.seed, k) not in done]
    tasks = [(given.seed, k, given.largest, given.backend) for k in numbers]
    context = multiprocessing.get_context("spawn")
    with context.Pool(given.jobs, maxtasksperchild=50) as pool, given.log.open("a") as log:
        for line in pool.imap_unordered(outcome, tasks):
            log.write(json.dumps(line) + "\n")
            log.flush()
            lines.append(line)
            if line["outcome"] in ("refused", "crashed"):
                print(json.dumps(line), flush=True)
    counts = Counter(x["outcome"] for x in lines)
    passed = sorted(x["ratio"] for x in lines if x["outcome"] == "passed")
    print(dict(counts), dict(Counter(x.get("kind") for x in lines)))
    if passed:
        print(f"error / limit: median {passed[len(passed) // 2]:.2g}, largest {passed[-1]:.2g}")
    return int(bool(counts["refused"] or counts["crashed"]))


if __name__ == "__main__":
    sys.exit(main())
