"""Use the generated two-link module: torques, gradients, batches, closed form against recursion.

symgen build examples/two_link.yaml
python examples/use_two_link.py
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # so that it runs from any folder

from generated import two_link  # noqa: E402


def main() -> None:
    print(
        f"{two_link.name}: {two_link.n} coordinates {two_link.coordinate_names}, "
        f"{two_link.backend} backend"
    )

    # one sample
    q, qd, qdd = [0.3, -0.8], [1.0, 0.5], [2.0, -1.0]
    print("torques:          ", two_link.inverse_dynamics(q, qd, qdd))
    print("to hold the arm:  ", two_link.gravity_forces(q))

    # a load of 10 N that pulls the tip down: [fx fy fz nx ny nz] in base axes
    loads = [[0.0, -10.0, 0.0, 0.0, 0.0, 0.0]]
    print("with a load:      ", two_link.inverse_dynamics(q, qd, qdd, loads=loads))

    # analytic gradients
    tau, dtau_dq, _, dtau_dqdd = two_link.inverse_dynamics_derivatives(q, qd, qdd)
    print("d tau / d q:\n", dtau_dq)
    print("d tau / d qdd is the mass matrix:", np.allclose(dtau_dqdd, two_link.mass_matrix(q)))

    # a whole trajectory in one call
    t = np.linspace(0.0, 1.0, 1000)[:, np.newaxis]
    phase = t + np.array([0.0, 1.0])
    trajectory = two_link.inverse_dynamics(np.sin(phase), np.cos(phase), -np.sin(phase))
    print("1000 samples:     ", trajectory.shape)

    # closed form against recursion
    difference = two_link.closed_form_lagrange.inverse_dynamics(q, qd, qdd) - tau
    print("closed form - recursion:", difference)


if __name__ == "__main__":
    main()
