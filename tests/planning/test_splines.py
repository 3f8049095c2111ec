"""Splines of profiles: refined ones are the same, and control points bound them."""

import numpy as np

from symgen.planning.splines import Profile


def test_refined_splines_are_the_same_and_rates_are_bounded_by_their_control_points():
    random = np.random.default_rng(1)
    s = np.linspace(0.0, 1.0, 101)
    for degree in (3, 5):
        profile = Profile(degree, 7)
        control = random.standard_normal((profile.controls, 2))
        finer = Profile(degree, 14)
        refined = profile.refined(control, finer)
        for order in range(3):
            values = profile.at(s).of(control, order)
            assert np.allclose(finer.at(s).of(refined, order), values, atol=1e-8)
            bounds = profile.differences(order) @ control
            assert np.all(values <= bounds.max(axis=0) + 1e-9)
            assert np.all(values >= bounds.min(axis=0) - 1e-9)
        within = Profile(degree, 7, 4)
        assert np.allclose(
            within.bends() @ profile.refined(control, within),
            0,
            atol=1e-8 * np.abs(within.bends()).max(),
        )
        assert len(within.bends()) == 7 * 3
