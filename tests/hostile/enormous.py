"""Hostile files that are too large to be kept: made when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MIB = 1 << 20
HEAD = "symgen: 1\nname: robot\n"
ARM = "joints: [{name: j, type: revolute, origin: {}, link: {mass: 1, com: [1, 0, 0]}}]\n"


def parameters(lines: list[str]) -> bytes:
    """A model with these parameters."""
    return (HEAD + "parameters:\n" + "".join(f"  {line}\n" for line in lines) + ARM).encode()


def chain_of_parameters() -> bytes:
    """20,000 parameters, each defined by the next one, the number last."""
    return parameters([*(f"a{k}: a{k + 1}" for k in range(20_000)), "a20000: 1"])


def ring_of_parameters() -> bytes:
    """20,000 parameters that define each other in a circle."""
    return parameters([f"a{k}: a{(k + 1) % 20_000}" for k in range(20_000)])


def unknown_names() -> bytes:
    """10,000 expressions, each with names that nobody knows."""
    return parameters([f"a{k}: b{k} + c{k}" for k in range(10_000)])


def long_expression() -> bytes:
    """An expression of 100 kB."""
    return parameters(["a: " + "+".join(["1"] * 50_000)])


def many_expressions() -> bytes:
    """2,000 expressions that are as long and as deep as they may be."""
    deep = "(" * 49 + "1" + ")" * 49 + "+sin(cos(1))*2**0.5" * 90
    return parameters([f"a{k}: {deep}" for k in range(1700)])


def joints(count: int, parent: Callable[[int], str]) -> bytes:
    """A model with so many joints."""
    lines = [f"  - {{name: j{k}, type: revolute, parent: {parent(k)}, origin: {{}}}}\n"
             for k in range(count)]  # fmt: skip
    return (HEAD + "joints:\n" + "".join(lines)).encode()


def chain_of_joints() -> bytes:
    """10,000 joints, each on the one before."""
    return joints(10_000, lambda k: f"j{k - 1}" if k else "base")


def joints_of_nothing() -> bytes:
    """10,000 joints, each on a link that there is none of."""
    return joints(10_000, lambda k: f"x{k}")


def reversed_joints() -> bytes:
    """10,000 joints, each on the one that comes next."""
    return joints(10_000, lambda k: f"j{k + 1}")


def joints_of_one_name() -> bytes:
    """14,000 joints of one name."""
    return (HEAD + "joints:\n" + "  - {name: j, type: fixed, origin: {}}\n" * 14_000).encode()


def empty_joints() -> bytes:
    """90,000 joints that say nothing."""
    return (HEAD + "joints:\n" + "  -\n" * 90_000).encode()


def points() -> bytes:
    """Thousands of points on as many links."""
    links = "".join(f"  - {{name: j{k}, type: fixed, origin: {{}}}}\n" for k in range(5000))
    lines = (f"  - {{name: p{k}, link: j{k}}}\n" for k in range(5000))
    return (HEAD + "joints:\n" + links + "points:\n" + "".join(lines)).encode()


def points_of_nothing() -> bytes:
    """15,000 points on links that there are none of."""
    lines = (f"  - {{name: p{k}, link: x{k}}}\n" for k in range(15_000))
    return (HEAD + ARM + "points:\n" + "".join(lines)).encode()


def unknown_keys() -> bytes:
    """40,000 keys that nobody knows."""
    return (HEAD + "".join(f"key{k}: 1\n" for k in range(40_000))).encode()


def wrong_values() -> bytes:
    """90,000 numbers where there should be three."""
    return f"{HEAD}gravity: [{', '.join(['x'] * 90_000)}]\n".encode()


def over_the_limit() -> bytes:
    """More than 4 MiB of a remark."""
    return b"#" * (4 * MIB + 1)


def almost(text: str, end: str = "") -> bytes:
    """3.9 MiB of the same."""
    return (text * (int(3.9 * MIB) // len(text.encode())) + end).encode()


def text(pattern: str) -> Callable[[], bytes]:
    """3.9 MiB of a pattern."""
    return lambda: almost(pattern)


def one_value(pattern: str) -> Callable[[], bytes]:
    """A model whose description is 3.9 MiB of a pattern."""
    return lambda: HEAD.encode() + b'description: "' + almost(pattern) + b'"\n'


def urdf(count: int, parent: Callable[[int], int]) -> bytes:
    """A robot with so many joints."""
    links = "".join(f'<link name="l{k}"/>\n' for k in range(count + 1))
    lines = (
        f'<joint name="j{k}" type="fixed"><parent link="l{parent(k)}"/>'
        f'<child link="l{k + 1}"/></joint>\n'
        for k in range(count)
    )
    return f'<robot name="r">\n{links}{"".join(lines)}</robot>\n'.encode()


def attributes() -> bytes:
    """An element with 200,000 attributes."""
    given = " ".join(f'a{k}=""' for k in range(200_000))
    return f'<robot name="r"><link name="a" {given}/></robot>'.encode()


def links_alike() -> bytes:
    """3,000 links whose names become one."""
    links = "".join(f'<link name="{"-" * 9}{k:b}"/>\n'.replace("1", "+").replace("0", "-")
                    for k in range(3000))  # fmt: skip
    return f'<robot name="r">{links}</robot>'.encode()


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


def assignments(lines: list[str]) -> bytes:
    """An answer of these lines."""
    return "\n".join(lines).encode()


ENORMOUS: Mapping[str, Callable[[], bytes]] = {
    "chain_of_parameters.yaml": chain_of_parameters,
    "ring_of_parameters.yaml": ring_of_parameters,
    "unknown_names.yaml": unknown_names,
    "long_expression.yaml": long_expression,
    "many_expressions.yaml": many_expressions,
    "chain_of_joints.yaml": chain_of_joints,
    "joints_of_nothing.yaml": joints_of_nothing,
    "reversed_joints.yaml": reversed_joints,
    "joints_of_one_name.yaml": joints_of_one_name,
    "empty_joints.yaml": empty_joints,
    "points.yaml": points,
    "points_of_nothing.yaml": points_of_nothing,
    "unknown_keys.yaml": unknown_keys,
    "wrong_values.yaml": wrong_values,
    "over_the_limit.yaml": over_the_limit,
    "brackets.yaml": text("["),
    "braces.yaml": text("{"),
    "dashes.yaml": text("- "),
    "questions.yaml": text("? "),
    "colons.yaml": text(": "),
    "quotes.yaml": text('"'),
    "single_quotes.yaml": text("'"),
    "anchors.yaml": text("&a "),
    "tags.yaml": text("!a "),
    "bangs.yaml": text("!"),
    "percents.yaml": text("%A\n"),
    "stars.yaml": text("*a "),
    "bars.yaml": text("|\n"),
    "remarks.yaml": text("#\n"),
    "remark.yaml": text("# "),
    "lines.yaml": text("\n"),
    "spaces.yaml": text(" "),
    "tabs.yaml": text("\t"),
    "carriage_returns.yaml": text("\r"),
    "letters.yaml": text("a"),
    "words.yaml": text("a "),
    "words_in_lines.yaml": text("a\n"),
    "keys.yaml": text("a: 1\n"),
    "documents.yaml": text("---\n"),
    "three_dots.yaml": text("...\n"),
    "items.yaml": text("- a\n"),
    "list.yaml": lambda: b"[" + almost("a,"),
    "emoji.yaml": text("\U0001f600"),
    "marks.yaml": text("\ufeff"),
    "description.yaml": one_value("a "),
    "description_of_escapes.yaml": one_value("\\x41"),
    "description_of_lines.yaml": one_value("\n"),
    "description_of_spaces.yaml": one_value(" "),
    "null_bytes.yaml": text("\0"),
    "chain.urdf": lambda: urdf(3000, lambda k: k),
    "star.urdf": lambda: urdf(3000, lambda k: 0),
    "joints.urdf": lambda: urdf(20_000, lambda k: k),
    "ring.urdf": lambda: urdf(2999, lambda k: (k + 2) % 3000),
    "attributes.urdf": attributes,
    "links_alike.urdf": links_alike,
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
    "bodies.xml": lambda: bodies(3000),
    "too_many_bodies.xml": lambda: bodies(50_000),
    "joints_of_a_body.xml": lambda: bodies(1, "<joint/>" * 20_000),
    "classes.xml": lambda: b"<mujoco><default>"
    + b"".join(b'<default class="c%d"/>' % k for k in range(50_000))
    + b"</default><worldbody/></mujoco>",
    "compilers.xml": lambda: b"<mujoco>" + b"<compiler angle='radian'/>" * 90_000 + b"</mujoco>",
    "sequence.xml": lambda: b'<mujoco><compiler eulerseq="' + almost("xyz") + b'"/></mujoco>',
    "lines.txt": lambda: assignments(["a = 1"] * 40_000),
    "sum.txt": lambda: b"M[1,1] = " + b"m+" * 100_000 + b"m",
    "sum_in_lines.txt": lambda: b"M[1,1] = (" + b"m+\n" * 1900 + b"m)",
    "names.txt": lambda: assignments(
        [*(f"a{k} = m*{k}" for k in range(1990)), "M[1,1] = a0"]
    ),
    "chain.txt": lambda: assignments(
        ["a0 = m", *(f"a{k} = a{k - 1} + 1" for k in range(1, 1500)), "M[1,1] = a1499"]
    ),
    "unknown_names.txt": lambda: assignments([f"a{k} = x{k}" for k in range(1990)]),
    "entries.txt": lambda: assignments([f"M[1,{k}] = m" for k in range(1990)]),
    "parentheses.txt": lambda: b"M[1,1] = " + b"(" * 200_000,
    "parentheses_in_lines.txt": lambda: b"(\n" * 1900,
    "letters.txt": lambda: b"a" * 250_000,
    "digits.txt": lambda: b"M[1,1] = " + b"9" * 250_000,
    "over_the_limit.txt": text("a = 1\n"),
}  # fmt: skip
"""File name -> what makes its content.  What comes of each stands in corpus/enormous.txt."""
