"""docs/pictures/*.svg: what symgen prints on a terminal, from real runs.

    python -m benchmarks.terminal_pictures              all of them
    python -m benchmarks.terminal_pictures grade errors

Every picture is a few commands in an empty folder.  They run on a pseudo-terminal, so that they
print in colour and at its width; progress bars, which a terminal forgets, are left out, and the
name of the folder is replaced.  The pictures hold text, and ask no host for a font.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
EXAMPLES = ROOT / "examples"
WIDTH = 104
SHOWN_FOLDER = "~/robots"
FONTS = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
FORM = f"""\
<svg viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg">
<style>
.{{unique_id}}-matrix {{{{
  font-family: {FONTS}; font-size: {{char_height}}px; line-height: {{line_height}}px;
}}}}
.{{unique_id}}-title {{{{ font: bold 18px {FONTS}; }}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})"
   clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""

WRONG_MODEL = """\
symgen: 1
name: my arm
convention: standard
parameters:
  L: 0,4
joints:
  - name: shoulder
    type: rotational
    dh: {theta: 0, d: 0, a: L, alpha: 90}
    link: {mass: 2, com: [-L/2, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.05}}
  - name: elbow
    type: revolute
    parent: sholder
    dh: {theta: q2, d: 0, a: L^2, alpa: 0}
    mass: 1.5
"""
ANSWER = """\
c2 = cos(q2)
M[1,1] = I1 + I2 + m1*l1**2 + m2*(L1**2 + l2**2 + L1*l2*c2)
M[1,2] = I2 + m2*(l2**2 + L1*l2*c2)
G[2] = -m2*l2*g*c12
newton_euler.omega_2_z = qd1 - qd2
"""


@dataclass(frozen=True)
class Picture:
    """Commands one after the other, those of `before` not shown; `width` in columns."""

    shown: Sequence[str]
    before: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    width: int = WIDTH


FEW = "--functions inverse_dynamics,mass_matrix"
FIRST_USE = Picture(("symgen new first.yaml", "symgen build first.yaml --functions mass_matrix"))
"""So that no picture shows how long a compiler takes that symgen meets for the first time."""

PICTURES = {
    "new": Picture(("symgen new arm.yaml", "head -n 34 arm.yaml")),
    "build": Picture((f"symgen build arm.yaml {FEW}",), ("symgen new arm.yaml",)),
    "check": Picture(
        ("symgen check arm.yaml --functions inverse_dynamics",), ("symgen new arm.yaml",)
    ),
    "exact": Picture(
        ("symgen check arm.yaml --exact --verbose --functions inverse_dynamics,mass_matrix",),
        ("symgen new arm.yaml",),
    ),
    "compare": Picture((f"symgen compare arm.yaml {FEW}",), ("symgen new arm.yaml",), width=116),
    "growth": Picture(
        ("symgen compare --family serial --joints 1..7 --functions mass_matrix",), width=108
    ),
    "grade": Picture(
        ("cat answer.txt", "symgen grade two_link.yaml answer.txt"),
        files={"answer.txt": ANSWER, "two_link.yaml": (EXAMPLES / "two_link.yaml").read_text()},
    ),
    "errors": Picture(
        ("cat -n arm.yaml", "symgen build arm.yaml"), files={"arm.yaml": WRONG_MODEL}
    ),
}


def main(names: Sequence[str]) -> None:
    """Write the pictures of these names, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        screen(FIRST_USE, Path(cache))
        for name in names or PICTURES:
            text = screen(PICTURES[name], Path(cache))
            (FOLDER / f"{name}.svg").write_text(svg(text, name, PICTURES[name].width))
            print(FOLDER / f"{name}.svg")


def screen(picture: Picture, cache: Path) -> str:
    """What a terminal shows after the commands, with codes for colours."""
    lines = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        for name, content in picture.files.items():
            (folder / name).write_text(content)
        for command in picture.before:
            printed(command, folder, cache, picture.width)
        for command in picture.shown:
            lines += [
                f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m",
                printed(command, folder, cache, picture.width),
            ]
        text = "\n".join(line.rstrip("\n") for line in lines if line)
        return text.replace(str(folder), SHOWN_FOLDER)


def printed(command: str, folder: Path, cache: Path, width: int) -> str:
    """What a command prints, first to a terminal, then as its errors."""
    words = command.split()
    program = [sys.executable, "-m", "symgen"] if words[0] == "symgen" else words[:1]
    settings = {"COLUMNS": str(width), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **settings, "SYMGEN_CACHE_DIR": str(cache)}
    environment.pop("NO_COLOR", None)
    leader, terminal = pty.openpty()
    with subprocess.Popen(
        [*program, *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(terminal)
        output = _until_closed(leader).replace("\r\n", "\n")
        assert process.stderr is not None
        errors = process.stderr.read()
    progress = re.compile(r".* \.\.\.$|first use of .*")
    kept = [line for line in errors.splitlines() if not progress.match(line)]
    return output + "\n".join(kept)


def _until_closed(leader: int) -> str:
    """All that is written to the other end of a pseudo-terminal."""
    parts = []
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux says so when the other end is closed
            part = b""
        if not part:
            os.close(leader)
            return b"".join(parts).decode()
        parts.append(part)


def svg(text: str, name: str, width: int) -> str:
    """A picture of a terminal."""
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(f"{text}\n"), soft_wrap=False, highlight=False)
    return console.export_svg(title="symgen", code_format=FORM, unique_id=f"terminal-{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
