// Closed loops: the page's functions say how far rows are from 0, and Newton steps move coordinates
// until all of them are, as `assemble` of the generated module does.

const RANK = 1e-6; // singular values below this, in units of the largest, are of redundant rows
const CLOSED = 1e-12; // rows of an assembled mechanism, relative to the size of their Jacobian
const PIECE = 0.1; // rad, m: a slider that jumps is followed in pieces, lest loops close otherwise
const FINEST = 1e-5;

class Mechanism {
  constructor(calculator) {
    this.calculator = calculator;
    Object.assign(this, calculator.facts.closing);
    this.configuration = calculator.configuration;
    this.n = calculator.n;
    const first = this.actuated.indexOf(true);
    this.lead = { qd: first, qdd: first }; // the slider that stays when the pose changes
  }

  // The array that a function gives, by the first formulation that has it.
  call(name, ...given) {
    const [first] = this.calculator.having(name);
    return Object.values(this.calculator.functions[first][name](...given, this.calculator.given))[0];
  }

  open(q) { return Array.from(this.call("constraints", q)); }

  jacobian(q) { return split(this.call("constraint_jacobian", q), this.n); }

  // Derivatives of the constraints by positions, which those of velocities do not restrict.
  slopes(q) { return this.jacobian(q).map((row, i) => (this.velocityRows[i] ? row.map(() => 0) : row)); }

  // What stays with slider k: velocities that are 0, those of a quaternion together; and an entry of
  // q where that is none of its own velocity, as the place of a free body is.
  held(k) {
    const { quaternions, places } = this.configuration;
    const turn = quaternions.find(({ v }) => v <= k && k < v + 3);
    if (turn) return { columns: [turn.v, turn.v + 1, turn.v + 2] };
    const travels = quaternions.some(({ free, v }) => free && v - 3 <= k && k < v);
    return travels ? { columns: [], place: places.get(k) } : { columns: [k] };
  }

  // The entry of q at `place` by the velocities.
  ways(q, place) {
    return Array.from({ length: this.n }, (_, k) => {
      const unit = new Float64Array(this.n);
      unit[k] = 1;
      return this.configuration.rate(q, unit)[place];
    });
  }

  moved(q, way) {
    const rate = this.configuration.rate(q, way);
    return this.configuration.normalized(q.map((x, i) => x + rate[i]));
  }

  // The nearest coordinates at which all loops are closed and what is held stays; null if none.
  close(q, { columns, place } = { columns: [] }) {
    const begin = q[place];
    const open = (at) => (place === undefined ? this.open(at) : [...this.open(at), at[place] - begin]);
    let [c, damping, size] = [open(q), 0, 1];
    for (let step = 0; step < 80; step += 1) {
      const J = without(this.slopes(q), columns);
      if (place !== undefined) J.push(this.ways(q, place));
      size = Math.max(1, ...J.flat().map(Math.abs));
      if (most(c) <= CLOSED * size) return q;
      const moved = this.moved(q, leastStep(J, c, damping * size).map((x) => -x));
      const left = open(moved);
      if (norm(left) < norm(c)) {
        [q, c, damping] = [moved, left, damping > 1e-9 ? damping / 10 : 0];
      } else if (damping > 1e6) {
        break;
      } else {
        damping = 10 * damping || 1e-3;
      }
    }
    return most(c) <= 1e3 * CLOSED * size ? q : null;
  }

  // Sliders where that of coordinate k comes as near to `value` as the loops let it, and the others
  // follow.
  follow(sliders, k, value) {
    let [at, here, piece] = [Float64Array.from(sliders), sliders[k], PIECE];
    while (here !== value && piece >= FINEST) {
      const next = Math.abs(value - here) <= piece ? value : here + Math.sign(value - here) * piece;
      const wanted = Float64Array.from(at);
      wanted[k] = next;
      const found = this.close(this.configuration.of(wanted), this.held(k));
      const reached = found && this.configuration.sliders(found);
      if (reached && most(reached.map((x, i) => x - at[i])) <= 30 * piece) {
        reached[k] = next;
        [at, here, piece] = [reached, next, Math.min(PIECE, 2 * piece)];
      } else {
        piece /= 2;
      }
    }
    return { sliders: at, reached: here === value };
  }

  // Values nearest to those given with J values = right, that of `k` staying where it can.
  nearest(J, values, right, k) {
    const left = (x) => J.map((row, i) => dotted(row, x) - right[i]);
    for (const held of k < 0 ? [[]] : [[k], []]) {
      let found = values;
      for (let k = 0; k < 2; k += 1) { // the second for what rounding left
        const step = leastStep(without(J, held), left(found), 0);
        found = found.map((x, i) => x - step[i]);
      }
      if (most(left(found)) <= 1e-9 * (1 + most(found) + most(right))) return found;
    }
    return values;
  }

  // Velocities, and accelerations, with which the loops stay closed.
  velocities(q, qd) {
    const varies = this.call("constraint_rates", q, new Float64Array(this.n));
    return this.nearest(this.jacobian(q), Float64Array.from(qd), varies.map((x) => -x), this.lead.qd);
  }

  accelerations(q, qd, qdd) {
    const bias = this.call("constraint_bias", q, qd);
    return this.nearest(this.jacobian(q), Float64Array.from(qdd), bias.map((x) => -x), this.lead.qdd);
  }

  // A state after a step of the integrator, its loops closed again; null if they cannot.
  closed({ q, qd }) {
    if (!q.every(Number.isFinite)) return null;
    const found = this.close(q);
    if (!found) return null;
    const varies = this.call("constraint_rates", found, new Float64Array(this.n)).map((x) => -x);
    return { q: found, qd: this.nearest(this.jacobian(found), qd, varies, -1) };
  }

  // Accelerations that torques give: M qdd + h = tau + J' x, J qdd = -b, by independent rows of J.
  motion(q, qd, tau) {
    const M = split(this.call("mass_matrix", q), this.n);
    const h = this.call("bias_forces", q, qd);
    const bias = this.call("constraint_bias", q, qd);
    const { turns, turned, kept } = orthogonal(this.jacobian(q));
    const rows = turned.filter((_, k) => kept[k]);
    const right = turns.filter((_, k) => kept[k]).map((turn) => -dotted(turn, bias));
    const whole = [
      ...M.map((row, i) => [...row, ...rows.map((one) => -one[i])]),
      ...rows.map((row) => [...row, ...rows.map(() => 0)]),
    ];
    return solvedEquations(whole, [...h.map((x, i) => tau[i] - x), ...right]).slice(0, this.n);
  }

  // Torques where drives are and multipliers, of least norm, and what they cannot do.
  drives(q, qd, qdd) {
    const felt = Array.from(this.call("inverse_dynamics", q, qd, qdd));
    const J = this.jacobian(q);
    const driven = this.actuated.flatMap((is, i) => (is ? [i] : []));
    const whole = felt.map((_, i) => [...driven.map((k) => Number(k === i)), ...J.map((row) => row[i])]);
    const found = leastStep(whole, felt, 0, 1e-9);
    const tau = new Float64Array(this.n);
    driven.forEach((k, i) => { tau[k] = found[i]; });
    const left = most(whole.map((row, i) => dotted(row, found) - felt[i])) / (1 + most(felt));
    return { tau, multipliers: found.slice(driven.length), able: left <= 1e-8 };
  }

  // Rows relative to the largest of the same unit, as `row_sizes` of the generated module.
  scaled(J) {
    const size = (unit) => Math.max(...J.map((row, i) => (this.units[i] === unit ? norm(row) : 0))) || 1;
    return J.map((row, i) => row.map((x) => (this.units[i] < 0 ? x : x / size(this.units[i]))));
  }

  // How many motions are free here, which multipliers are unique, the smallest singular value.
  freedom(q) {
    const { turns, sizes, kept } = orthogonal(this.scaled(this.jacobian(q)));
    const own = sizes.filter((_, k) => kept[k]);
    const unique = this.rows.map((_, i) => turns.reduce((sum, turn, k) => sum + (kept[k] ? turn[i] ** 2 : 0), 0) > 1 - RANK);
    return { free: this.n - own.length, rank: own.length, smallest: Math.min(...own) / Math.max(...own), unique };
  }
}

// -- small arrays, rows of rows ----------------------------------------------------------------

function split(flat, n) {
  return Array.from({ length: flat.length / n }, (_, i) => Array.from(flat.slice(n * i, n * i + n)));
}

function without(J, columns) {
  return columns.length ? J.map((row) => row.map((x, i) => (columns.includes(i) ? 0 : x))) : J;
}

function dotted(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

function most(values) {
  return Math.max(0, ...Array.from(values, Math.abs));
}

function norm(values) {
  return Math.sqrt(dotted(values, values));
}

// One-sided rotations of Jacobi: orthonormal `turns`, the rows that they make of those of A and that
// are orthogonal (`turned`), their `sizes`, the singular values, and which of them count (`kept`).
function orthogonal(A, rank = RANK) {
  const turned = A.map((row) => Array.from(row));
  const turns = A.map((_, i) => A.map((__, k) => Number(i === k)));
  const mix = (list, i, k, cos, sin) => {
    const [a, b] = [list[i], list[k]];
    for (let j = 0; j < a.length; j += 1) [a[j], b[j]] = [cos * a[j] - sin * b[j], sin * a[j] + cos * b[j]];
  };
  for (let sweep = 0, rotated = true; rotated && sweep < 40; sweep += 1) {
    rotated = false;
    for (let i = 0; i < A.length; i += 1) {
      for (let k = i + 1; k < A.length; k += 1) {
        const [a, b, ab] = [dotted(turned[i], turned[i]), dotted(turned[k], turned[k]), dotted(turned[i], turned[k])];
        if (Math.abs(ab) <= 1e-15 * Math.sqrt(a * b) || Math.abs(ab) < 1e-300) continue;
        rotated = true;
        const zeta = (b - a) / (2 * ab);
        const tan = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cos = 1 / Math.hypot(1, tan);
        mix(turned, i, k, cos, cos * tan);
        mix(turns, i, k, cos, cos * tan);
      }
    }
  }
  const sizes = turned.map(norm);
  const largest = Math.max(0, ...sizes);
  return { turns, turned, sizes, kept: sizes.map((s) => s > rank * largest) };
}

// The shortest x that brings A x nearest to c; damped, it is shorter still.
function leastStep(A, c, damping, rank = RANK) {
  const { turns, turned, sizes, kept } = orthogonal(A, rank);
  const found = new Float64Array(A[0].length);
  turned.forEach((row, k) => {
    if (!kept[k]) return;
    const gain = dotted(turns[k], c) / (sizes[k] ** 2 + damping ** 2);
    for (let j = 0; j < found.length; j += 1) found[j] += gain * row[j];
  });
  return found;
}

// Elimination with the largest pivot of each column; NaN where there is none.
function solvedEquations(A, right) {
  const rows = A.map((row, i) => [...row, right[i]]);
  const n = rows.length;
  for (let k = 0; k < n; k += 1) {
    let best = k;
    for (let i = k + 1; i < n; i += 1) if (Math.abs(rows[i][k]) > Math.abs(rows[best][k])) best = i;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    if (!(Math.abs(rows[k][k]) > 1e-300)) return new Float64Array(n).fill(NaN);
    for (let i = k + 1; i < n; i += 1) {
      const factor = rows[i][k] / rows[k][k];
      for (let j = k; factor && j <= n; j += 1) rows[i][j] -= factor * rows[k][j];
    }
  }
  const found = new Float64Array(n);
  for (let k = n - 1; k >= 0; k -= 1) {
    let sum = rows[k][n];
    for (let j = k + 1; j < n; j += 1) sum -= rows[k][j] * found[j];
    found[k] = sum / rows[k][k];
  }
  return found;
}

// -- what the page says of it ------------------------------------------------------------------

function freedomInWords({ free, rank, smallest, unique }) {
  const rows = unique.length;
  const spare = rows > rank ? ` ${rows - rank} of the ${rows} constraints ${rows - rank === 1 ? "follows" : "follow"} from the others.` : "";
  const ratio = rank ? ` ${spare ? `Without ${rows - rank === 1 ? "it" : "them"}, the` : "The"} ratio of smallest to largest singular value of their Jacobian is ${Number(smallest.toPrecision(3))} (near 0: close to a singular pose).` : "";
  return `${free} ${free === 1 ? "degree" : "degrees"} of freedom at this pose.${spare}${ratio}`;
}

function fillMultipliers(table, names, multipliers, unique) {
  const head = document.createElement("thead");
  head.append(row(...["row", "multiplier", "unique"].map((name) => cell("th", name, { scope: "col" }))));
  const body = document.createElement("tbody");
  const size = most(multipliers);
  names.forEach((name, i) => body.append(row(
    cell("th", name, { scope: "row" }),
    numberCell(Math.abs(multipliers[i]) < 1e-12 * size ? 0 : multipliers[i], { "data-index": i }),
    cell("td", unique[i] ? "yes" : "no"),
  )));
  table.replaceChildren(table.caption, head, body);
}

function fillWrenches(table, names, wrenches) {
  const head = document.createElement("thead");
  head.append(row(...["loop", "Fx", "Fy", "Fz", "Mx", "My", "Mz"].map((name) => cell("th", name, { scope: "col" }))));
  const body = document.createElement("tbody");
  const size = most(wrenches);
  names.forEach((name, i) => body.append(row(
    cell("th", name, { scope: "row" }),
    ...Array.from(wrenches.slice(6 * i, 6 * i + 6), (value, k) => numberCell(
      Math.abs(value) < 1e-12 * size ? 0 : value, { "data-index": 6 * i + k },
    )),
  )));
  table.replaceChildren(table.caption, head, body);
}

// `usual` are accelerations without torques: where those that are wanted are 0, they say how large
// rounding is.
function sayReturned(place, able, wanted, qdd, usual) {
  const size = Math.max(most(wanted), most(usual), 1e-300);
  const difference = most(Array.from(qdd, (x, i) => x - wanted[i])) / size;
  const good = difference <= AGREEMENT;
  place.className = `verdict ${good ? "good" : "bad"}`;
  place.dataset.difference = difference;
  place.textContent = !able ? "" : good
    ? `They are those of the sliders: largest relative difference ${difference.toExponential(1)}`
    : `They are NOT those of the sliders: largest relative difference ${difference.toExponential(1)}`;
}
