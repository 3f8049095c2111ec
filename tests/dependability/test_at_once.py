"""Many builds of one model at once all end well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dependability.builds import World

AT_ONCE = 16


def _build_at_once(world: World, masses: list[float], *options: str) -> None:
    running = [world.start(mass, *options) for mass in masses]
    for process in running:
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert world.installed_mass() in masses
    assert world.leftovers() == []


@pytest.mark.deep  # installations alone: tests/toolchain/test_install.py
@pytest.mark.parametrize("count", [2, AT_ONCE])
def test_of_one_model(tmp_path: Path, count: int) -> None:
    world = World(tmp_path)
    world.hold_a_package()
    _build_at_once(world, [2.0] * count)
    assert world.installed_mass() == 2.0


@pytest.mark.deep
def test_of_variants_with_one_name_from_nothing(tmp_path: Path) -> None:
    """Nothing is there yet: no output folder, no cache, no tool chain that was validated."""
    _build_at_once(
        World(tmp_path, qualified=False),
        [float(number) for number in range(1, AT_ONCE + 1)],
        "--force",
    )
