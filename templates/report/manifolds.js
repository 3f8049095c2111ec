// Joints with a unit quaternion x y z w: their sliders are a rotation vector (rad) from the neutral
// attitude, behind the place of a free joint; the generated functions take the quaternion.

class Configuration {
  // Each of `quaternions` is [kind, first entry of q, first velocity].
  constructor({ coordinates, quaternions }) {
    this.n = coordinates.length;
    this.quaternions = quaternions.map(([kind, q, v]) => {
      const before = kind === "free" ? 3 : 0; // entries and velocities that are no rotation
      return { free: kind === "free", q: q + before, v: v + before };
    });
    // where in q the entry of every slider is that is none of a rotation
    this.places = new Map();
    let q = 0;
    for (let k = 0; k < this.n; k += 1) {
      const turn = this.quaternions.find(({ v }) => v === k);
      if (turn) { q += 4; k += 2; } else { this.places.set(k, q); q += 1; }
    }
    this.nq = q;
  }

  // Where the sliders stand -> q.
  of(sliders) {
    const q = new Float64Array(this.nq);
    for (const [k, place] of this.places) q[place] = sliders[k];
    for (const turn of this.quaternions) {
      const w = sliders.slice(turn.v, turn.v + 3);
      const angle = Math.hypot(...w);
      const share = angle < 1e-8 ? 0.5 : Math.sin(angle / 2) / angle;
      q.set([share * w[0], share * w[1], share * w[2], Math.cos(angle / 2)], turn.q);
    }
    return q;
  }

  // q -> where the sliders stand: the shorter way round.
  sliders(q) {
    const found = new Float64Array(this.n);
    for (const [k, place] of this.places) found[k] = q[place];
    for (const turn of this.quaternions) {
      const [x, y, z, w] = q.slice(turn.q, turn.q + 4);
      const sine = Math.hypot(x, y, z);
      const sign = w < 0 ? -1 : 1;
      const share = sign * (sine < 1e-12 ? 2 : (2 * Math.atan2(sine, sign * w)) / sine);
      found.set([share * x, share * y, share * z], turn.v);
    }
    return found;
  }

  // dq/dt at the velocities qd, which for these joints are in the axes of the link.
  rate(q, qd) {
    const found = new Float64Array(this.nq);
    for (const [k, place] of this.places) found[place] = qd[k];
    for (const turn of this.quaternions) {
      const [x, y, z, w] = q.slice(turn.q, turn.q + 4);
      const [a, b, c] = qd.slice(turn.v, turn.v + 3);
      found.set([w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a, -(x * a + y * b + z * c)].map((s) => s / 2), turn.q);
      if (turn.free) found.set(rotated([x, y, z, w], qd.slice(turn.v - 3, turn.v)), turn.q - 3);
    }
    return found;
  }

  // q with quaternions of unit norm.
  normalized(q) {
    const found = Float64Array.from(q);
    for (const turn of this.quaternions) {
      const part = q.slice(turn.q, turn.q + 4);
      found.set(part.map((x) => x / Math.hypot(...part)), turn.q);
    }
    return found;
  }
}

// A vector turned by a unit quaternion.
function rotated([x, y, z, w], [a, b, c]) {
  const [p, q, r] = [y * c - z * b, z * a - x * c, x * b - y * a];
  return [a + 2 * (w * p + y * r - z * q), b + 2 * (w * q + z * p - x * r), c + 2 * (w * r + x * q - y * p)];
}
