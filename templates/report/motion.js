// The robot left to itself: integrated here, with its energy and a phase plot.

const SECONDS = 10; // that the plots show
const LONGEST_STEP = 1 / 500; // s
const SHORTEST_STEP = 1e-7; // s
const LONGEST_FRAME = 1 / 20; // s: what a tab that was hidden missed is not made up for
const AT_WORK = 30; // ms of a frame, after which a motion that needs short steps goes on in slow motion
const LEAST = 1e-6; // range of an axis, in SI units
const SMOOTH = 1e-4; // how far the two slopes in the middle of a step may lead apart, beside 1 or the state

class Motion {
  constructor(calculator, show) {
    this.calculator = calculator;
    this.show = show;
    this.playing = false;
    this.restart();
  }

  restart() {
    this.time = 0;
    this.pace = LONGEST_STEP;
    this.track = [];
    this.passed = []; // states of the steps since the last frame
  }

  // One step of the classical Runge-Kutta method for q' = rate(q, qd), qd' = free(q, qd), and how far its
  // two slopes in the middle lead apart: a power of h less than what the step neglects.
  step({ q, qd }, h) {
    const { configuration } = this.calculator;
    const moved = (x, slope, by) => x.map((value, i) => value + by * slope[i]);
    const slopes = [];
    const { t } = this.calculator.given; // of a mechanism with a drive
    const begin = t?.[0];
    for (const share of [0, 0.5, 0.5, 1]) {
      const last = slopes[slopes.length - 1];
      if (t) t[0] = begin + share * h;
      const at = last ? [moved(q, last[0], share * h), moved(qd, last[1], share * h)] : [q, qd];
      slopes.push([configuration.rate(...at), this.calculator.free(...at)]);
    }
    const mean = (k) => slopes[0][k].map((_, i) => (slopes[0][k][i] + 2 * slopes[1][k][i] + 2 * slopes[2][k][i] + slopes[3][k][i]) / 6);
    const most = (values) => Math.max(...Array.from(values, Math.abs));
    const apart = (k, values) => (h * most(slopes[2][k].map((x, i) => x - slopes[1][k][i]))) / Math.max(1, most(values));
    return { q: configuration.normalized(moved(q, mean(0), h)), qd: moved(qd, mean(1), h), rough: Math.max(apart(0, q), apart(1, qd)) };
  }

  // As far towards `seconds` as the time for work allows, in steps as short as the motion needs.
  travel(at, seconds) {
    const { t } = this.calculator.given;
    const [stop, begin] = [performance.now() + AT_WORK, t?.[0]];
    let done = 0;
    this.passed = [];
    while (done < seconds && performance.now() < stop) {
      const piece = Math.min(this.pace, seconds - done);
      const next = this.step(at, piece);
      if (next.rough <= SMOOTH) {
        [at, done] = [next, piece < this.pace ? seconds : done + piece];
        this.passed.push({ q: this.calculator.configuration.sliders(at.q), qd: at.qd });
        if (next.rough < SMOOTH / 32) this.pace = Math.min(LONGEST_STEP, 2 * this.pace);
      } else if (piece > SHORTEST_STEP) {
        if (t) t[0] = begin + done;
        this.pace = piece / 2;
      } else {
        return { at: null, done };
      }
    }
    return { at, done };
  }

  advance(state, seconds) {
    const { configuration, mechanism } = this.calculator;
    const begin = { q: configuration.of(state.q), qd: Float64Array.from(state.qd) };
    const { at, done } = this.travel(begin, seconds);
    this.time += done;
    const found = at && (mechanism ? mechanism.closed(at) : at);
    return found ? { q: configuration.sliders(found.q), qd: found.qd } : { q: [NaN], qd: [] };
  }

  remember(state) {
    const energies = this.calculator.energies(state);
    const here = { q: Float64Array.from(state.q), qd: Float64Array.from(state.qd) };
    this.track.push({ time: this.time, energies, states: [...this.passed.slice(0, -1), here] });
    while (this.track.length && this.track[0].time < this.time - SECONDS) this.track.shift();
  }

  // The first instant, where nothing moved yet.
  begin(state) {
    if (this.playing || this.track.length > 1) return;
    this.restart();
    this.remember(state);
  }

  play(state) {
    this.playing = true;
    this.restart();
    this.remember(state);
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      const moved = this.advance(state, Math.min(LONGEST_FRAME, (now - before) / 1000) || 1e-4);
      before = now;
      if (![...moved.q, ...moved.qd].every(Number.isFinite)) {
        this.playing = false;
        this.show(null);
        return;
      }
      Object.assign(state, moved);
      this.remember(state);
      this.show(moved);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

// Two to six round values of an axis: 1, 2 or 5 times a power of ten apart.
function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

// Lines [[class, [[x, y], ...]], ...] and marks [[class, [x, y]], ...] in a frame with round ticks; `fill`: no room
// beside the first and last x.  Less than a share of the values, or than LEAST (SI units), is rounding, and fills no
// plot.  Returns the left end of the frame, for which its numbers make room.
function plot(svg, lines, marks = [], fill = false) {
  const points = lines.flatMap(([, line]) => line);
  if (!points.length) { svg.replaceChildren(); return 0; }
  const range = (k) => {
    const [low, high] = [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))];
    const size = Math.max(Math.abs(low), Math.abs(high));
    const missing = Math.max(0.02 * size, LEAST) - (high - low);
    const room = low === high ? 0.15 * size || 1 : Math.max(0.05 * (high - low), 0.5 * missing);
    return [low - room, high + room];
  };
  const spread = () => points.reduce(([low, high], [x]) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
  const [[x0, last], [y0, y1]] = [fill ? spread() : range(0), range(1)];
  const x1 = last > x0 ? last : x0 + 1;
  const left = Math.max(50, 14 + 6.5 * Math.max(...ticks(y0, y1).map((y) => String(y).length)));
  const place = ([x, y]) => [left + ((390 - left) * (x - x0)) / (x1 - x0), 195 - (185 * (y - y0)) / (y1 - y0)];
  const path = (line) => line.map((point, i) => `${i ? "L" : "M"}${place(point).map((x) => x.toFixed(1)).join(" ")}`).join("");
  const parts = [["path", { class: "frame", d: `M${left} 10V195H390` }]];
  const [, zero] = place([x0, 0]);
  if (y0 < 0 && y1 > 0) parts.push(["path", { class: "zero", d: `M${left} ${zero.toFixed(1)}H390` }]);
  for (const [name, line] of lines) parts.push(["path", { class: name, d: path(line) }]);
  for (const [name, mark] of marks) {
    const [cx, cy] = place(mark);
    parts.push(["circle", { class: name, cx, cy, r: 3.5 }]);
  }
  const marked = [...ticks(x0, x1).map((x) => [x, y0, x]), ...ticks(y0, y1).map((y) => [x0, y, y])];
  marked.forEach(([x, y, value]) => {
    const [across, down] = place([x, y]);
    const below = y === y0 && value === x;
    parts.push(["path", { class: "frame", d: below ? `M${across} 195v4` : `M${left - 4} ${down}h4` }]);
    parts.push(["text", below ? { x: across, y: 211, "text-anchor": "middle" } : { x: left - 7, y: down + 4, "text-anchor": "end" }, String(value)]);
  });
  svg.replaceChildren(...parts.map(([tag, attributes, words]) => element(tag, attributes, words)));
  return left;
}

function plotMotion(track, coordinate) {
  const known = track.filter((at) => at.energies);
  const line = (value) => known.map((at) => [at.time, value(at.energies)]);
  const lines = [
    ["part-inertial", line(([kinetic]) => kinetic)],
    ["part-gravity", line(([, potential]) => potential)],
    ["part-total", line(([kinetic, potential]) => kinetic + potential)],
  ];
  plot(byId("energy-plot"), lines, lines.flatMap(([name, points]) => points.slice(-1).map((last) => [name, last])), true);
  const phase = track.flatMap(({ states }) => states.map(({ q, qd }) => [q[coordinate], qd[coordinate]]));
  plot(byId("phase-plot"), [["phase", phase]], phase.slice(-1).map((last) => ["phase", last]));
}
