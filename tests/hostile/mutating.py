"""Files that nobody would write: seeds that are changed at random, the same for the same number.

Seeds are the files of corpus/, those of other tests, and a few small ones; what is put into them
comes from the formats' own words, from numbers at the limits, and from bytes at random."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import quoteattr

from symgen.description.foreign.entries import SDF, URDF

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS: Mapping[str, str] = {
    "model": ".yaml", "urdf": ".urdf", "sdf": ".sdf", "answer": ".txt",
}  # fmt: skip
SHARES: Mapping[str, float] = {"model": 0.3, "urdf": 0.25, "sdf": 0.25, "answer": 0.2}
LARGEST_SEED = 6000
LARGEST_INPUT = 60_000

_FOLDERS = ("examples", "tests/description/beginners", "symgen", "symgen/validation")


def _words(text: str) -> list[str]:
    return text.split()


_NUMBERS = _words("""
    0 -0 1 -1 0.1 1e-320 5e-324 1e308 1e309 -1e400 1e-400 1e99999 9999999999999999999999 0x1F 0o17
    .inf -.inf .nan nan inf 1_000 1e 1.5.2 +5 1,5 0b1 00 1e5 3.14159 1.5708 90 6.2832 1e-3 1e16 2.5
""")
_EXPRESSIONS = _words("""
    ** * / + - ( ) , pi deg sqrt( sin( cos( tan( asin( acos( atan( atan2( exp( log( abs(
    2**2**2**2 9**9**9**9 (-1)**0.5 0**-1 log(0) 1/0 1e308*10 --- ((((((( )) q qd qdd t
    __import__('os').system('id') lambda:0 a.b a[0] f'{x}' x:=1 eval(1) \u0661 \u03c0 \u212f \uff11
    \u2212 \u200b L1 m1 I1 g q1 q2 qd1 qdd1 c1 s1 c12 tau1
""")
_HOSTILE = [
    "</script>", "<script>alert(1)</script>", "&lt;", "&", '"', "'", '"""', "'''", "*/", "/*", "//",
    "#", "\\", "\\\n", "\\u0000", "\\x1b[31m", "\x1b[2J", "\x00", "\u202e", "\u2028", "\ufeff",
    "\ud7ff", "\U0001f600", "../", "../../etc/passwd", "/etc/passwd", "CON", "__class__", "import",
    "numpy", "sympy", "os", "base", "%s%n", "${x}", "{{7*7}}", "{% raw %}", "\r", "\r\n", "\t",
    "\v", "\f", "\x85", "??/", "\\N{DASH}", "]]>", "-->", "]]", "class", "def", "static", "int",
    "<!--", "<![CDATA[", "<!DOCTYPE", "<!ENTITY", "&lol;", "&#0;", "&#x110000;", "<xacro:macro",
    "&a", "*a", "<<:", "!!python/object:", "!<tag:x>", "|-", ">+", "...", "%YAML", "a::b",
]  # fmt: skip
_TABLES = {"urdf": URDF.entries, "sdf": SDF.entries}
_TOKEN = re.compile(r"[A-Za-z_0-9.]+|\s+|.", re.DOTALL)
_WRITTEN_NUMBER = re.compile(r"(?<![A-Za-z_])[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Input:
    """One file: its number, kind, and content."""

    number: int
    kind: str
    content: bytes

    @property
    def name(self) -> str:
        """Of the file, with the ending of its kind."""
        return f"input{KINDS[self.kind]}"


def make(seed: int, number: int) -> Input:
    """The input of that number; the same on every machine."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
    text = rng.choice(seeds(kind))
    changes = GENTLE if rng.random() < 0.4 else CHANGES
    for _ in range(min(1 + int(rng.expovariate(1.2)), 8)):
        text = rng.choice(changes)(text, kind, rng)[:LARGEST_INPUT]
    content = text.encode("utf-8", errors="surrogatepass")
    if rng.random() < 0.04:
        content = _as_bytes(content, rng)
    return Input(number, kind, content)


def _as_bytes(content: bytes, rng: random.Random) -> bytes:
    """Bytes that are no text, or one in another encoding."""
    how = rng.randrange(4)
    if how == 0:
        return content.decode("utf-8", errors="replace").encode(rng.choice(["utf-16", "utf-32"]))
    if how == 1:
        return content.decode("utf-8", errors="replace").encode("latin-1", errors="replace")
    changed = bytearray(content)
    for _ in range(1 + rng.randrange(6)):
        changed.insert(rng.randrange(len(changed) + 1), rng.randrange(256))
    return bytes(changed)


# ------------------------------------------------------------------------------------------ seeds


@cache
def seeds(kind: str) -> tuple[str, ...]:
    """The texts that files of a kind are made from."""
    folders = [ROOT / folder for folder in _FOLDERS] + [HERE / "corpus" / kind]
    paths = sorted(
        path for folder in folders for path in folder.glob(f"*{KINDS[kind]}") if path.is_file()
    )
    texts = [path.read_bytes() for path in paths if path.name != "expected.txt"]
    found = [x.decode(errors="replace") for x in texts if 0 < len(x) <= LARGEST_SEED]
    small = (HERE / "seeds" / f"{kind}{KINDS[kind]}").read_text().split("=== next ===\n")
    return (*small * (1 + 2 * len(found) // len(small)), *found)  # most inputs are nearly right


# ---------------------------------------------------------------------------------------- changes


@cache
def _of_kind(kind: str) -> Sequence[str]:
    """List the words of a format: those of its seeds, and the entries that symgen knows."""
    known = _TABLES.get(kind, ())
    elements = {path.split("/")[-1].partition("@")[0] for path in known}
    attributes = {path.partition("@")[2] for path in known} - {""}
    names = [f"<{name}>" for name in elements] + [f'{name}="1"' for name in attributes]
    words = (word for text in seeds(kind) for word in text.split() if len(word) < 200)
    return sorted({*names, *words})


def _word(kind: str, rng: random.Random) -> str:
    """A word to be put somewhere."""
    source = rng.choice((_NUMBERS, _EXPRESSIONS, _HOSTILE, _of_kind(kind), _of_kind(kind)))
    return rng.choice(source)


def _place(text: str, rng: random.Random) -> int:
    return rng.randrange(len(text) + 1)


def _insert(text: str, kind: str, rng: random.Random) -> str:
    at, space = _place(text, rng), rng.choice(("", " ", "\n"))
    return f"{text[:at]}{space}{_word(kind, rng)}{space}{text[at:]}"


def _replace(text: str, kind: str, rng: random.Random) -> str:
    tokens = _TOKEN.findall(text) or [""]
    tokens[rng.randrange(len(tokens))] = _word(kind, rng)
    return "".join(tokens)


def _replace_number(text: str, kind: str, rng: random.Random) -> str:
    word = rng.choice(_NUMBERS if rng.random() < 0.7 else _EXPRESSIONS)
    return _in_place_of_a_number(text, word, rng) or _replace(text, kind, rng)


def _in_place_of_a_number(text: str, word: str, rng: random.Random) -> str:
    """Put a word in the place of a number; "" where there is none."""
    found = list(_WRITTEN_NUMBER.finditer(text))
    if not found:
        return ""
    match = rng.choice(found)
    return text[: match.start()] + word + text[match.end() :]


def _delete(text: str, kind: str, rng: random.Random) -> str:
    at = _place(text, rng)
    return text[:at] + (text[at + 1 + int(rng.expovariate(0.1)) :] if rng.random() < 0.7 else "")


def _lines(text: str, kind: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    block = lines[start : start + 1 + rng.randrange(6)]
    how = rng.randrange(4)
    if how == 0:
        del lines[start : start + len(block)]
    elif how == 1:
        lines[start:start] = block * (1 + rng.randrange(3))
    elif how == 2:
        other = rng.randrange(len(lines))
        lines[other:other] = block
    else:
        shift = rng.choice((" ", "  ", "    ", "\t"))
        lines[start : start + len(block)] = [shift + line for line in block]
    return "\n".join(lines)


def _splice(text: str, kind: str, rng: random.Random) -> str:
    other = rng.choice(seeds(kind))
    one, two = text.split("\n"), other.split("\n")
    at, start = rng.randrange(len(one) + 1), rng.randrange(len(two))
    return "\n".join([*one[:at], *two[start : start + 1 + rng.randrange(12)], *one[at:]])


def _repeat(text: str, kind: str, rng: random.Random) -> str:
    at = _place(text, rng)
    piece = _word(kind, rng) if rng.random() < 0.5 else text[at : at + 1 + rng.randrange(40)]
    times = rng.choice((2, 5, 40, 300, 3000) if rng.random() < 0.2 else (2, 3, 5, 20))
    return text[:at] + piece * times + text[at:]


def _nest(text: str, kind: str, rng: random.Random) -> str:
    left, right = rng.choice((("(", ")"), ("[", "]"), ("{a: ", "}"), ("-", ""), ("<a>", "</a>"),
                              ("sin(", ")"), ("- ", "")))  # fmt: skip
    depth, at = rng.choice((1, 2, 10, 40, 300)), _place(text, rng)
    end = rng.randrange(at, len(text) + 1)
    return text[:at] + left * depth + text[at:end] + right * depth + text[end:]


def _other_number(text: str, kind: str, rng: random.Random) -> str:
    """A number becomes another one that is legal, or an expression where there are any."""
    word = f"{rng.choice((rng.gauss(0, 1), rng.randrange(-3, 100))):.6g}"
    if kind in ("model", "answer") and rng.random() < 0.5:
        forms = ("({}+pi)", "sin({})", "2**{}", "{}/3", "-{}", "atan2({}, 2)")
        word = rng.choice(forms).replace("{}", word)
    return _in_place_of_a_number(text, word, rng) or _say(text, kind, rng)


def _say(text: str, kind: str, rng: random.Random) -> str:
    """A text of the author's, well quoted, with whatever in it."""
    words = "".join(rng.choice(_HOSTILE + [" ", "a"]) for _ in range(1 + rng.randrange(6)))
    if kind == "model":
        key = rng.choice(("description", "parameters.w", "outputs.w", "name"))
        quoted = json.dumps(words)
        if "." in key:
            section = key.partition(".")[0]
            entry = f"w: {{value: 1, unit: {quoted}, description: {quoted}}}"
            return re.sub(rf"(?m)^{section}: {{", lambda m: f"{m[0]}{entry}, ", text, count=1)
        lines = [line for line in text.split("\n") if not line.startswith(f"{key}:")]
        return "\n".join([*lines, f"{key}: {quoted}", ""])
    if kind == "answer":
        return f"{text}# {words}\n"
    quoted = quoteattr(words).replace("\x00", "&#0;")
    named = re.compile(r'(name|model)="[^"]*"')
    return named.sub(lambda match: f"{match[1]}={quoted}", text, count=1)


def _rename(text: str, kind: str, rng: random.Random) -> str:
    """Another name for something, everywhere that it stands."""
    names = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)
    new = rng.choice((_word(kind, rng), "static", "numpy", "w", "x" * 64, "q_1", "I", "__init__"))
    return re.sub(rf"\b{rng.choice(names)}\b", lambda _: new, text) if names else text


GENTLE: Sequence[Callable[[str, str, random.Random], str]] = (
    _other_number, _other_number, _other_number, _replace_number, _say, _say, _rename, _rename,
    _splice,
)  # fmt: skip
CHANGES: Sequence[Callable[[str, str, random.Random], str]] = (
    _insert, _insert, _replace, _replace, _replace, _replace_number, _replace_number, _delete,
    _lines, _lines, _splice, _repeat, _nest,
)  # fmt: skip
