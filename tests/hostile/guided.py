"""The same targets led by coverage: atheris keeps inputs that reach lines which none has reached.

    pip install '.[fuzz]'
    python -m tests.hostile.guided model kept -runs=50000

The kind is one of model, urdf, sdf, mjcf and answer; what is kept lies in the folder `kept`, beside
the corpus, from which it starts.  Options behind are those of libFuzzer.  It knows nothing of the
formats, and is a hundred times slower than `tests.hostile.fuzz` because every branch is counted; it
finds what that one's author has not thought of.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["symgen", "ruamel"]):
    from symgen.errors import SymgenError
    from tests.hostile import targets

from tests.hostile.mutating import HERE, KINDS


def main() -> None:
    """Fuzz one kind until libFuzzer has enough."""
    kind, kept, *options = sys.argv[1:]
    Path(kept).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{KINDS[kind]}"
        seeds = [kept, str(HERE / "corpus" / kind), str(HERE / "seeds")]
        atheris.Setup(["guided", "-timeout=5", *options, *seeds], lambda data: read(path, data))
        atheris.Fuzz()


def read(path: Path, content: bytes) -> None:
    """Hand one input in, as a file; what is raised and is no refusal is a find."""
    path.write_bytes(content)
    try:
        if path.suffix == KINDS["answer"]:
            targets.check_verdict(targets.grade_file(str(path)))
        else:
            targets.draw(targets.read_file(str(path)))
    except SymgenError as error:
        targets.check_message(error, str(path))


if __name__ == "__main__":
    main()
