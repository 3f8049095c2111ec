"""Hostile files that are too large to be kept: made when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MIB = 1 << 20
ARM = "joints: [{name: j, type: revolute, origin: {}, link: {mass: 1, com: [1, 0, 0]}}]"
DEEP = "(" * 49 + "1" + ")" * 49 + "+sin(cos(1))*2**0.5" * 90
"""An expression that is as long and as deep as it may be."""


def lines(*texts: str) -> bytes:
    """Write a model of these lines."""
    return "\n".join(["symgen: 1", "name: robot", *texts, ""]).encode()


def parameters(definitions: list[str]) -> bytes:
    """Write a model with these parameters."""
    return lines("parameters:", *(f"  {line}" for line in definitions), ARM)


def previous(k: int) -> str:
    """Name the joint before."""
    return f"j{k - 1}" if k else "base"


def joints(count: int, parent: Callable[[int], str], kind: str = "revolute", *more: str) -> bytes:
    """Write a model with so many joints."""
    row = "  - {{name: j{}, type: {}, parent: {}, origin: {{}}}}".format
    return lines("joints:", *(row(k, kind, parent(k)) for k in range(count)), *more)


def points(count: int, link: str) -> list[str]:
    """Write so many points, each on a link of its own."""
    return ["points:", *(f"  - {{name: p{k}, link: {link}{k}}}" for k in range(count))]


def statements(texts: list[str]) -> bytes:
    """Write an answer of these lines."""
    return "\n".join(texts).encode()


def signs(k: int) -> bytes:
    """Write a number by signs that a name cannot have, all of which become the same."""
    return f"{k:b}".replace("1", "+").replace("0", "-").encode()


def almost(text: str, end: str = "") -> bytes:
    """3.9 MiB of the same."""
    return (text * (int(3.9 * MIB) // len(text.encode())) + end).encode()


def text(pattern: str) -> Callable[[], bytes]:
    """3.9 MiB of a pattern."""
    return lambda: almost(pattern)


def one_value(pattern: str) -> Callable[[], bytes]:
    """A model whose description is 3.9 MiB of a pattern."""
    return lambda: lines() + b'description: "' + almost(pattern) + b'"\n'


def urdf(count: int, parent: Callable[[int], int]) -> bytes:
    """A robot with so many joints."""
    links = "".join(f'<link name="l{k}"/>\n' for k in range(count + 1))
    lines = (
        f'<joint name="j{k}" type="fixed"><parent link="l{parent(k)}"/>'
        f'<child link="l{k + 1}"/></joint>\n'
        for k in range(count)
    )
    return f'<robot name="r">\n{links}{"".join(lines)}</robot>\n'.encode()


def sdf(count: int, pose: Callable[[int], str], parent: str = "l{}") -> bytes:
    """A model with so many links on turning joints."""
    links = "".join(f'<link name="l{k}">{pose(k)}</link>\n' for k in range(count + 1))
    joints = (
        f'<joint name="j{k}" type="revolute"><parent>{parent.format(k)}</parent>'
        f"<child>l{k + 1}</child></joint>\n"
        for k in range(count)
    )
    head = '<sdf version="1.9"><model name="r">\n'
    return f"{head}{links}{''.join(joints)}</model></sdf>\n".encode()


def bodies(count: int, inner: str = "") -> bytes:
    """A world with so many bodies."""
    return f"<mujoco><worldbody>{f'<body>{inner}</body>' * count}</worldbody></mujoco>".encode()


ENORMOUS: Mapping[str, Callable[[], bytes]] = {
    "chain_of_parameters.yaml": lambda: parameters(
        [*(f"a{k}: a{k + 1}" for k in range(20_000)), "a20000: 1"]
    ),
    "ring_of_parameters.yaml": lambda: parameters(
        [f"a{k}: a{(k + 1) % 20_000}" for k in range(20_000)]
    ),
    "unknown_names.yaml": lambda: parameters([f"a{k}: b{k} + c{k}" for k in range(10_000)]),
    "long_expression.yaml": lambda: parameters(["a: " + "+".join(["1"] * 50_000)]),
    "many_expressions.yaml": lambda: parameters([f"a{k}: {DEEP}" for k in range(1700)]),
    "chain_of_joints.yaml": lambda: joints(10_000, previous),
    "joints_of_nothing.yaml": lambda: joints(10_000, lambda k: f"x{k}"),
    "reversed_joints.yaml": lambda: joints(10_000, lambda k: f"j{k + 1}"),
    "joints_of_one_name.yaml": lambda: lines(
        "joints:", *["  - {name: j, type: fixed, origin: {}}"] * 14_000
    ),
    "empty_joints.yaml": lambda: lines("joints:", *["  -"] * 90_000),
    "points.yaml": lambda: joints(5000, previous, "fixed", *points(5000, "j")),
    "points_of_nothing.yaml": lambda: lines(ARM, *points(15_000, "x")),
    "unknown_keys.yaml": lambda: lines(*(f"key{k}: 1" for k in range(40_000))),
    "wrong_values.yaml": lambda: lines(f"gravity: [{', '.join(['x'] * 90_000)}]"),
    "over_the_limit.yaml": lambda: b"#" * (4 * MIB + 1),
    **{
        f"{name}.yaml": text(pattern)
        for name, pattern in {
            "brackets": "[", "braces": "{", "dashes": "- ", "questions": "? ", "colons": ": ",
            "quotes": '"', "single_quotes": "'", "anchors": "&a ", "tags": "!a ", "bangs": "!",
            "percents": "%A\n", "stars": "*a ", "bars": "|\n", "remarks": "#\n", "remark": "# ",
            "lines": "\n", "spaces": " ", "tabs": "\t", "carriage_returns": "\r", "letters": "a",
            "words": "a ", "words_in_lines": "a\n", "keys": "a: 1\n", "documents": "---\n",
            "three_dots": "...\n", "items": "- a\n", "emoji": "\U0001f600", "marks": "\ufeff",
            "null_bytes": "\0",
        }.items()
    },
    "list.yaml": lambda: b"[" + almost("a,"),
    "description.yaml": one_value("a "),
    "description_of_escapes.yaml": one_value("\\x41"),
    "description_of_lines.yaml": one_value("\n"),
    "description_of_spaces.yaml": one_value(" "),
    "chain.urdf": lambda: urdf(3000, lambda k: k),
    "star.urdf": lambda: urdf(3000, lambda k: 0),
    "joints.urdf": lambda: urdf(20_000, lambda k: k),
    "ring.urdf": lambda: urdf(2999, lambda k: (k + 2) % 3000),
    "attributes.urdf": lambda: b'<robot name="r"><link name="a" '
    + b" ".join(b'a%d=""' % k for k in range(200_000))
    + b"/></robot>",
    "links_alike.urdf": lambda: b'<robot name="r">'
    + b"".join(b'<link name="---------%s"/>' % signs(k) for k in range(3000))
    + b"</robot>",
    "elements.urdf": lambda: b"<robot>" + almost("<a/>") + b"</robot>",
    "open.urdf": text("<a>"),
    "brackets.urdf": text("<"),
    "character.urdf": lambda: b'<robot name="' + almost("x") + b'"/>',
    "characters.urdf": lambda: b'<robot name="' + almost("&#65;") + b'"/>',
    "remarks.urdf": lambda: b"<robot>" + almost("<!-- -->") + b"</robot>",
    "instructions.urdf": lambda: b"<robot>" + almost("<?a?>") + b"</robot>",
    "numbers.urdf": lambda: b'<robot name="r"><link name="a"/><link name="b"/>'
    b'<joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xyz="'
    + almost("1 ")
    + b'"/></joint></robot>',
    "chain.sdf": lambda: sdf(
        2990, lambda k: f'<pose relative_to="l{k - 1}">1 0 0 0.1 0 0</pose>' if k else ""
    ),
    "absolute.sdf": lambda: sdf(2990, lambda k: f"<pose>{k} 0 0 {0.1 * k} 0 0</pose>"),
    "models.sdf": lambda: b'<sdf version="1.9"><model name="r">'
    + b"".join(b'<model name="m%d"><link name="l"/></model>' % k for k in range(5000))
    + b"</model></sdf>",
    "texts.sdf": lambda: b'<sdf version="1.9"><model name="r"><link name="a"><pose>'
    + almost("1<!-- -->")
    + b"</pose></link></model></sdf>",
    "siblings.sdf": lambda: sdf(2990, lambda k: "", parent="l{}x"),
    "lines.txt": lambda: statements(["a = 1"] * 40_000),
    "sum.txt": lambda: b"M[1,1] = " + b"m+" * 100_000 + b"m",
    "sum_in_lines.txt": lambda: b"M[1,1] = (" + b"m+\n" * 1900 + b"m)",
    "names.txt": lambda: statements(
        [*(f"a{k} = m*{k}" for k in range(1990)), "M[1,1] = a0"]
    ),
    "chain.txt": lambda: statements(
        ["a0 = m", *(f"a{k} = a{k - 1} + 1" for k in range(1, 1500)), "M[1,1] = a1499"]
    ),
    "unknown_names.txt": lambda: statements([f"a{k} = x{k}" for k in range(1990)]),
    "entries.txt": lambda: statements([f"M[1,{k}] = m" for k in range(1990)]),
    "parentheses.txt": lambda: b"M[1,1] = " + b"(" * 200_000,
    "parentheses_in_lines.txt": lambda: b"(\n" * 1900,
    "letters.txt": lambda: b"a" * 250_000,
    "digits.txt": lambda: b"M[1,1] = " + b"9" * 250_000,
    "over_the_limit.txt": text("a = 1\n"),
}  # fmt: skip
"""File name -> what makes its content.  What comes of each stands in corpus/enormous.txt."""

LARGE_MJCF: Mapping[str, Callable[[], bytes]] = {
    "bodies.xml": lambda: bodies(3000),
    "too_many_bodies.xml": lambda: bodies(50_000),
    "joints_of_a_body.xml": lambda: bodies(1, "<joint/>" * 20_000),
    "classes.xml": lambda: (
        b"<mujoco><default>"
        + b"".join(b'<default class="c%d"/>' % k for k in range(50_000))
        + b"</default><worldbody/></mujoco>"
    ),
    "compilers.xml": lambda: b"<mujoco>" + b"<compiler angle='radian'/>" * 90_000 + b"</mujoco>",
    "sequence.xml": lambda: b'<mujoco><compiler eulerseq="' + almost("xyz") + b'"/></mujoco>',
}
"""Files that MuJoCo compiles, in a process of its own."""
