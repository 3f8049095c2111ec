"""Write the reference values and the operation counts of the contract again."""

from __future__ import annotations

import numpy as np

from tests.contract.cells import ROBOTS
from tests.contract.operations import FILE, counted
from tests.contract.references import computed, file_of


def main() -> None:
    """Write both."""
    for robot in ROBOTS:
        file = file_of(robot)
        file.parent.mkdir(exist_ok=True)
        np.savez_compressed(file, **computed(robot))
        print(file.name, flush=True)
    FILE.write_text(counted())


if __name__ == "__main__":
    main()
