"""The order of the numbers of a quaternion, against SciPy's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from symgen.quaternions import reorder


def test_orders_are_those_of_scipy():
    turn = Rotation.random(3, rng=np.random.default_rng(1))
    xyzw, wxyz = turn.as_quat(), turn.as_quat(scalar_first=True)
    np.testing.assert_array_equal(reorder(xyzw, "xyzw", "wxyz"), wxyz)
    np.testing.assert_array_equal(reorder(wxyz.tolist(), "wxyz", "xyzw"), xyzw)
    same = reorder(xyzw, "xyzw", "xyzw")
    assert not np.shares_memory(same, xyzw)
    np.testing.assert_array_equal(same, xyzw)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 0, 0, 1], "xyzw", "wzyx"), ValueError, "'wzyx'; expected xyzw or wxyz"),
        (([0, 0, 1], "xyzw", "wxyz"), ValueError, r"shape \(..., 4\), got \(3,\)"),
        ((1.0, "xyzw", "wxyz"), ValueError, r"got \(\)"),
        ((["a"] * 4, "xyzw", "wxyz"), TypeError, "expected numbers"),
    ],
)
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        reorder(*arguments)
