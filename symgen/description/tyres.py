"""The forces of a tyre on uneven ground, as expressions.

A tyre is a force of the model file whose expressions stand here (`LAW`), over the motion of the
wheel's centre c, its axis a and its angular velocity.  The ground is the plane through the point
below c that has the normal n of the ground there; f = a x n / s points forward, l = n x f to the
left.  F_x, F_y and M_z are the laws of ChFialaTire in Project Chrono, in a form without cases: with
k = C_slip kappa / (U N) and h = C_alpha t / (3 U N), both limited, and t the tangent of the slip
angle,

    F_x = U N (k_1 + (k - k_1)/(2 |k - k_1| + 1)),  k_1 = k within [-1/2, 1/2],
    F_y = -U N h_1 (1 + H + H^2),  M_z = U N width h_1 H^3,  H = 1 - |h_1|,  h_1 = h within [-1, 1].

They are continuous with their first derivatives.  Smooth functions replace max(depth, 0) (over
`ROUNDING`; the force decays with the third power of the clearance), max(N, 0) (10 N in contact),
min(1, slip) in the friction, and |v| in the slip (0.1 m/s).  Where the ground mentions t,
velocities are relative to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.description.expressions import ZERO, Expression, Name, derivative, parse, substitute
from symgen.description.model import ForceDescription, LinkPoint, Source, WheelDescription
from symgen.description.names import NameSpace
from symgen.description.outputs import LawChecks
from symgen.description.quantities import AXES, TIME, TYRES, quantity
from symgen.description.scalars import Scalars, vector
from symgen.description.schema import (
    ForceTable,
    NormalTable,
    RobotTable,
    SlipTable,
    Vector,
    readable,
)
from symgen.description.wording import KeyPath, shown
from symgen.joints.revolute import Revolute

ROUNDING = 1e-4
"""Depth, in m, over which the contact is smooth."""

MOST_COEFFICIENTS = 8
"""Largest number of coefficients of the stiffness."""

LAW = {
    "n_z": "1/sqrt(1 + slope_x**2 + slope_y**2)",
    "n_x": "-slope_x*n_z",
    "n_y": "-slope_y*n_z",
    "tilt": "axis.x*n_x + axis.y*n_y + axis.z*n_z",
    "s": "sqrt((1 - tilt)*(1 + tilt))",
    "f_x": "(axis.y*n_z - axis.z*n_y)/s",
    "f_y": "(axis.z*n_x - axis.x*n_z)/s",
    "f_z": "(axis.x*n_y - axis.y*n_x)/s",
    "l_x": "n_y*f_z - n_z*f_y",
    "l_y": "n_z*f_x - n_x*f_z",
    "l_z": "n_x*f_y - n_y*f_x",
    "v_z": "centre.vz - rise",
    "v_n": "centre.vx*n_x + centre.vy*n_y + v_z*n_z",
    "v_f": "centre.vx*f_x + centre.vy*f_y + v_z*f_z",
    "v_l": "centre.vx*l_x + centre.vy*l_y + v_z*l_z",
    "spin": "axis.wx*axis.x + axis.wy*axis.y + axis.wz*axis.z",
    "r": "(centre.z - height)*n_z/s",
    "depth": "radius - r",
    "round": f"sqrt(depth**2 + {ROUNDING**4 / 4!r}/(depth**2 + {ROUNDING**2!r}))",
    "d": "(depth + round)/2 + 1e-11",
    "push": "{spring} - damping*v_n/(d + 0.002)",
    "fn": "d*(push + sqrt(push**2 + (10/(d + 0.002))**2))/2",
    "v_b": "sqrt(v_f**2 + 0.01)",
    "kappa": "(spin*r - v_f)/v_b",
    "tan_alpha": "v_l/v_b",
    "slip": "sqrt(kappa**2 + tan_alpha**2 + 1e-6)",
    "friction": "friction_1 - (friction_1 - friction_2)*slip/sqrt(sqrt(sqrt(1 + slip**8)))",
    "limit": "friction*fn",
    "k": "longitudinal*kappa/limit",
    "k_1": "max(-0.5, min(0.5, k))",
    "fx": "limit*(k_1 + (k - k_1)/(2*abs(k - k_1) + 1))",
    "h_1": "max(-1, min(1, lateral*tan_alpha/(3*limit)))",
    "h": "1 - abs(h_1)",
    "fy": "-limit*h_1*(1 + h + h**2)",
    "mz": "limit*width*h_1*h**3",
    "my": "-rolling*fn*tanh(spin)",
    **{f"force_{x}": f"fn*n_{x} + fx*f_{x} + fy*l_{x}" for x in AXES},
    **{f"arm_{x}": f"r*(tilt*axis.{x} - n_{x})/s" for x in AXES},
}
"""Definitions by name, each of those before it and of the entries of the model file; `spring` is
the polynomial of the stiffness, divided by d."""

FORCE = tuple(f"force_{x}" for x in AXES)
TORQUE = tuple(
    f"arm_{y}*force_{z} - arm_{z}*force_{y} + mz*n_{x} + my*axis.{x}"
    for x, y, z in ("xyz", "yzx", "zxy")
)


def tyre(
    name: str,
    at: LinkPoint,
    wheel: WheelDescription,
    entries: Mapping[str, Expression],
    stiffness: Sequence[Expression],
    ground: Expression,
    source: Source,
) -> ForceDescription:
    """Return the force of a tyre.

    Args:
        name: its name.
        at: the centre of the wheel.
        wheel: the wheel.
        entries: `damping`, `longitudinal`, `lateral`, `friction_1`, `friction_2` and `rolling`.
        stiffness: coefficients of d, d**2, ..: N/m, N/m**2, ..
        ground: height of the ground (m), an expression of x, y, t and parameters.
        source: its place in the model file.
    """
    centre = {x: Name(quantity("centre", x)) for x in AXES[:2]}

    def ground_slope(along: str) -> Expression:
        root = substitute(derivative(ground.root, along), centre)
        return Expression(f"d({ground.text})/d{along}", root, ground.names)

    height = Expression(ground.text, substitute(ground.root, centre), ground.names)
    terms = [f"stiffness_{k}" for k in range(1, len(stiffness) + 1)]
    spring = " + d*(".join(terms) + ")" * (len(terms) - 1)
    entered = {
        "radius": wheel.radius, "width": wheel.width, **entries,
        **dict(zip(terms, stiffness, strict=True)), "height": height,
        "slope_x": ground_slope("x"), "slope_y": ground_slope("y"), "rise": ground_slope(TIME),
    }  # fmt: skip
    names = {key: quantity(TYRES, name, key) for key in (*entered, *LAW)}
    meanings = {key: Name(meaning) for key, meaning in names.items()}

    def meant(text: str) -> Expression:
        parsed = parse(text, dots=True)
        words = tuple(names.get(word, word) for word in parsed.names)
        return Expression(text, substitute(parsed.root, meanings), words)

    law = {key: meant(text.format(spring=spring)) for key, text in LAW.items()}
    let = tuple((names[key], value) for key, value in {**entered, **law}.items())
    force, torque = (vector((meant(x), meant(y), meant(z))) for x, y, z in (FORCE, TORQUE))
    return ForceDescription(name, at, let, force, torque, source, wheel)


class TyreChecks:
    """Checks tyres."""

    def __init__(self, robot: RobotTable, names: NameSpace, scalars: Scalars) -> None:
        self.names, self.scalars, self.findings = names, scalars, scalars.findings
        self.joints = {x.name: (i, x) for i, x in readable(robot.joints) if x.name}

    def tyre(self, table: ForceTable, path: KeyPath, laws: LawChecks) -> ForceDescription:
        """Check one tyre; return its force."""
        normal, slip = table.normal or NormalTable(), table.slip or SlipTable()
        at = self._place(table, path)
        for key in ("radius", "width"):
            self._number((*path, key), getattr(table, key), positive=True)
        stiffness, friction = (normal.stiffness or ())[:MOST_COEFFICIENTS], slip.friction or ()
        if normal.stiffness and len(normal.stiffness) > MOST_COEFFICIENTS:
            message = f"expected at most {MOST_COEFFICIENTS} coefficients"
            self.findings.fault(
                (*path, "normal", "stiffness"), f"{message}, found {len(normal.stiffness)}"
            )
        for k, value in enumerate(stiffness):
            self._number((*path, "normal", "stiffness", k), value, positive=k == 0)
        self._number((*path, "normal", "damping"), normal.damping)
        for key in ("longitudinal", "lateral"):
            self._number((*path, "slip", key), getattr(slip, key), positive=True)
        self._friction(friction, (*path, "slip", "friction"))
        self._number((*path, "rolling"), table.rolling)
        ground = table.ground or ZERO
        laws.check_law((*path, "ground"), ground, (*AXES[:2], TIME))
        entries = {
            "damping": normal.damping, "longitudinal": slip.longitudinal, "lateral": slip.lateral,
            **dict(zip(("friction_1", "friction_2"), friction, strict=False)),
            "rolling": table.rolling,
        }  # fmt: skip
        written = {key: value or ZERO for key, value in entries.items()}
        described = WheelDescription(table.wheel or "", table.radius or ZERO, table.width or ZERO)
        coefficients = [value or ZERO for value in stiffness] or [ZERO]
        source = self.findings.source(path)
        return tyre(table.name or "", at, described, written, coefficients, ground, source)

    def _place(self, table: ForceTable, path: KeyPath) -> LinkPoint:
        """Return the centre of the wheel."""
        self.scalars.triple((*path, "point"), self._point(table, path))
        source, link = self.findings.source(path), ""
        if table.wheel is not None:
            index, joint = self.joints.get(table.wheel, (0, None))
            if joint is None and self.names.complete:
                hint = self.findings.did_you_mean(table.wheel, self.joints)
                hint = hint or "; expected the name of a revolute joint"
                message = f"{shown(table.wheel)} names no joint{hint}"
                self.findings.fault((*path, "wheel"), message)
            elif joint is not None and joint.type not in (None, Revolute.name):
                message = (
                    f"{shown(table.wheel)} is {joint.type}; a wheel turns about a revolute joint"
                )
                self.findings.fault((*path, "wheel"), message)
            link = self.names.links[index] if joint is not None else ""
        return LinkPoint("", link, vector(self._point(table, path)), source)

    def _point(self, table: ForceTable, path: KeyPath) -> Vector | None:
        if isinstance(table.point, str):
            message = "expected the centre in the frame of the wheel's link, [x, y, z]"
            self.findings.fault((*path, "point"), f"{message}, found {shown(table.point)}")
            return None
        return table.point

    def _number(self, path: KeyPath, value: Expression | None, positive: bool = False) -> None:
        number = self.scalars.value(path, value)
        if value is None or number is None or number > 0.0 or (number == 0.0 and not positive):
            return
        expected = "a positive number" if positive else "0 or more"
        self.findings.fault(path, f"{number:.6g} is not allowed here; expected {expected}")

    def _friction(self, friction: Sequence[Expression | None], path: KeyPath) -> None:
        numbers = [self.scalars.value((*path, k), value) for k, value in enumerate(friction)]
        if None in numbers or None in friction or not friction:
            return
        values = [number or 0.0 for number in numbers]
        if len(values) != 2 or not 0.0 < values[1] <= values[0]:
            text = ", ".join(f"{value:.6g}" for value in values)
            self.findings.fault(path, f"expected two numbers, 0 < second <= first, found [{text}]")
