// The calculator: the state of the sliders -> what every formulation makes of it, side by side.

// Differences beyond this, relative to the largest entry here or in a usual state, are no rounding.
const AGREEMENT = 1e-9;

class Calculator {
  // `given` holds the parameters and the loads, which functions take by name.  Where nothing else is
  // said, the q of a state are those of the sliders.
  constructor(facts, functions, given) {
    this.facts = facts;
    this.functions = functions;
    this.given = given;
    this.n = facts.coordinates.length;
    this.configuration = new Configuration(facts);
  }

  having(name) {
    return Object.keys(this.facts.functions).filter((key) => this.facts.functions[key].includes(name));
  }

  // The torques by every formulation, and the accelerations that the first of them gives.
  compute({ q: sliders, qd, qdd }) {
    const q = this.configuration.of(sliders);
    const torques = this.byFormulation("inverse_dynamics", (f) => f(q, qd, qdd, this.given).tau);
    const tau = Object.values(torques)[0];
    const accelerations = tau ? this.byFormulation("forward_dynamics", (f) => f(q, qd, tau, this.given).qdd) : {};
    const gradient = this.byFormulation("inverse_dynamics_derivatives", (f) => f(q, qd, qdd, this.given));
    return { torques, accelerations, gradient };
  }

  // How large the results of the first formulation are in a usual state.  Differences are compared
  // with that where results are 0 but for rounding, as accelerations at rest are: what there would be
  // without torques, and what torques make of it, cancel.
  measure(state) {
    const results = this.compute(state);
    const [q, qd] = [this.configuration.of(state.q), state.qd];
    const [torques, accelerations, gradient] =
      [results.torques, results.accelerations, results.gradient].map((found) => Object.values(found).slice(0, 1));
    const free = this.byFormulation("forward_dynamics", (f) => f(q, qd, new Float64Array(this.n), this.given).qdd);
    this.usual = {
      torques: largest(torques),
      accelerations: largest([...accelerations, ...Object.values(free).slice(0, 1)]),
      gradient: largest(gradient.flatMap((found) => [found.dtau_dq, found.dtau_dqd, found.dtau_dqdd])),
    };
  }

  byFormulation(name, call) {
    return Object.fromEntries(this.having(name).map((key) => [key, call(this.functions[key][name])]));
  }

  // The parts of the torques, by part; none where they are too long for a page.
  parts({ q, qd, qdd }) {
    const [first] = this.having("torque_parts");
    return first ? this.functions[first].torque_parts(this.configuration.of(q), qd, qdd, this.given) : null;
  }

  // The wrench of every joint, six numbers each; null where they are too long for a page.
  wrenches({ q, qd, qdd }) {
    const [first] = this.having("joint_wrenches");
    return first ? this.functions[first].joint_wrenches(this.configuration.of(q), qd, qdd, this.given).joint_wrenches : null;
  }

  energies({ q: sliders, qd }) {
    const q = this.configuration.of(sliders);
    const [kinetic, potential] = ["kinetic_energy", "potential_energy"].map((name) => this.having(name)[0]);
    if (!kinetic || !potential) return null;
    return [
      this.functions[kinetic].kinetic_energy(q, qd, this.given).kinetic_energy,
      this.functions[potential].potential_energy(q, this.given).potential_energy,
    ].map((found) => Number(found.length ? found[0] : found));
  }

  // Accelerations without torques, by the first formulation that has them; q as functions take it.
  free(q, qd) {
    if (this.mechanism) return this.mechanism.motion(q, qd, new Float64Array(this.n));
    const [first] = this.having("forward_dynamics");
    return this.functions[first].forward_dynamics(q, qd, new Float64Array(this.n), this.given).qdd;
  }

  poses(q) {
    const [first] = this.having("forward_kinematics");
    return this.functions[first].forward_kinematics(this.configuration.of(q), this.given).forward_kinematics;
  }
}

function largest(arrays) {
  return Math.max(1e-300, ...arrays.flatMap((array) => Array.from(array, Math.abs)).filter(Number.isFinite));
}

// The largest difference between any of the arrays and the first one, relative to its largest entry
// or to `usual`, whichever is larger.
function disagreement(arrays, usual) {
  const [first, ...others] = arrays;
  const scale = Math.max(usual, largest([first]));
  return Math.max(0, ...others.map((other) => Math.max(0, ...Array.from(other, (x, i) => Math.abs(x - first[i])))) ) / scale;
}

// Five digits are read, all of them are in the tooltip.
function digits(value) {
  if (Number.isNaN(value)) return "none";
  return Math.abs(value) < 5e-13 ? "0" : Number(value.toPrecision(5)).toString();
}

function numberCell(value, attributes) {
  return cell("td", digits(value), { title: value, "data-value": value, ...attributes });
}

function cell(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function row(...cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

// One column for every formulation, one row for every coordinate.
function fillTable(table, columns, coordinates, unit) {
  const names = Object.keys(columns);
  const head = document.createElement("thead");
  head.append(row(cell("th", "joint", { scope: "col" }), ...names.map((name) => cell("th", name, { scope: "col" }))));
  const body = document.createElement("tbody");
  coordinates.forEach((coordinate, i) => {
    body.append(row(
      cell("th", `${i + 1} ${coordinate.name}, ${unit(coordinate)}`, { scope: "row" }),
      ...names.map((name) => numberCell(columns[name][i], { "data-formulation": name, "data-index": i })),
    ));
  });
  table.replaceChildren(table.caption, head, body);
}

const PARTS = { inertial: "inertial", centrifugal: "centrifugal", coriolis: "Coriolis", gravity: "gravity", load: "loads and springs", joint_term: "joint terms" };

// One column for every part of the torques and one for their sum; a bar under each number.
function fillParts(table, parts, coordinates) {
  const columns = Object.entries(PARTS).map(([key, words]) => [key, words, parts[`${key}_torques`]]);
  const sum = coordinates.map((_, i) => columns.reduce((total, [, , values]) => total + values[i], 0));
  columns.push(["total", "sum", sum]);
  const scale = largest(columns.map(([, , values]) => values));
  const head = document.createElement("thead");
  head.append(row(cell("th", "joint", { scope: "col" }),
    ...columns.map(([key, words]) => cell("th", words, { scope: "col", class: `part-${key}` }))));
  const body = document.createElement("tbody");
  coordinates.forEach((coordinate, i) => {
    body.append(row(
      cell("th", `${i + 1} ${coordinate.name}, ${coordinate.torque}`, { scope: "row" }),
      ...columns.map(([key, , values]) => {
        const made = numberCell(values[i], { class: `part-${key}`, "data-part": key, "data-index": i });
        const bar = cell("span", "", { class: "bar", "aria-hidden": "true" });
        const inside = document.createElement("span");
        const share = 50 * Math.min(1, Math.abs(values[i]) / scale) || 0;
        inside.style.width = `${share}%`;
        inside.style.left = `${values[i] < 0 ? 50 - share : 50}%`;
        bar.append(inside);
        made.append(bar);
        return made;
      }),
    ));
  });
  table.replaceChildren(table.caption, head, body);
}

function fillGradient(table, values, n, driven) {
  const largest = Math.max(1e-300, ...Array.from(values, Math.abs));
  const head = document.createElement("thead");
  const numbers = Array.from({ length: n }, (_, j) => j);
  head.append(row(cell("th", "joint", { scope: "col" }), ...numbers.map((j) => cell("th", String(j + 1), { scope: "col" }))));
  const body = document.createElement("tbody");
  for (const i of numbers.filter((k) => driven?.[k] ?? true)) {
    body.append(row(cell("th", String(i + 1), { scope: "row" }), ...numbers.map((j) => {
      const value = values[i * n + j];
      const made = cell("td", "", { title: value, "data-index": i * n + j, "data-value": value });
      const inside = cell("span", digits(value));
      const share = Math.round(28 * Math.abs(value) / largest);
      inside.style.background = `color-mix(in srgb, var(${value < 0 ? "--bad" : "--accent"}) ${share}%, transparent)`;
      made.append(inside);
      return made;
    })));
  }
  table.replaceChildren(table.caption, head, body);
}

// What the first row says in column 2 (column 1 where there is no second).
function gradientInWords(values, by, coordinates, driven) {
  const i = driven ? driven.indexOf(true) : 0;
  const j = Math.min(1, coordinates.length - 1);
  if (j < 0 || i < 0) return "";
  const [name, per] = { dtau_dq: ["q", ""], dtau_dqd: ["q̇", "/s"], dtau_dqdd: ["q̈", "/s²"] }[by];
  const [first, other] = [coordinates[i], coordinates[j]];
  const unit = `${other.unit}${per}`;
  return `Row ${i + 1}, column ${j + 1}: if ${name}${j + 1} (${other.name}) alone grows by 0.01 ${unit}, the torque or force ${i + 1} (${first.name}) changes by about ${digits(0.01 * values[i * coordinates.length + j])} ${first.torque}. Units: ${first.torque} per ${unit}.`;
}

// Eigenvalues of a symmetric matrix (Jacobi's rotations), the smallest first.
function eigenvalues(values, n) {
  const a = Float64Array.from(values);
  const turn = (i, j, p, q, cos, sin) => {
    [a[i * n + j], a[p * n + q]] = [cos * a[i * n + j] - sin * a[p * n + q], sin * a[i * n + j] + cos * a[p * n + q]];
  };
  for (let sweep = 0; sweep < 12; sweep++) {
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[p * n + q]) < 1e-300) continue;
        const theta = 0.5 * Math.atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]);
        const [cos, sin] = [Math.cos(theta), Math.sin(theta)];
        for (let k = 0; k < n; k++) turn(k, p, k, q, cos, sin);
        for (let k = 0; k < n; k++) turn(p, k, q, k, cos, sin);
      }
    }
  }
  return Array.from({ length: n }, (_, i) => a[i * n + i]).sort((x, y) => x - y);
}

function rankInWords(matrix, n, name) {
  const found = eigenvalues(matrix, n);
  if (!n || !found.every(Number.isFinite)) return "";
  const [low, high] = [found[0], found[n - 1]].map(digits);
  return found[0] > 1e-12 * found[n - 1]
    ? `${name} has full rank at this pose: its eigenvalues lie between ${low} and ${high}.`
    : `${name} has lost rank at this pose: its smallest eigenvalue is 0, its largest ${high}; some velocity has no kinetic energy.`;
}

function sayAgreement(place, what, arrays, usual) {
  const names = Object.keys(arrays);
  if (!names.length) {
    place.textContent = `No formulation computes ${what} in this page.`;
    return;
  }
  if (Object.values(arrays).some((array) => array.some((x) => !Number.isFinite(x)))) {
    place.textContent = what === "accelerations"
      ? "The mass matrix is singular here."
      : `The ${what} leave the range of numbers here.`;
    place.className = "verdict bad";
    return;
  }
  const difference = disagreement(Object.values(arrays), usual);
  const agree = difference <= AGREEMENT;
  place.className = `verdict ${agree ? "good" : "bad"}`;
  place.dataset.difference = difference;
  place.textContent = names.length === 1
    ? `Only ${names[0]} computes ${what} in this page.`
    : `${names.length} formulations ${agree ? "agree" : "DISAGREE"}: largest relative difference ${difference.toExponential(1)}`;
}
