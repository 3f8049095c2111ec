// The page: sliders, tables, the figure, and what is unfolded when it is opened.

const byId = (name) => document.getElementById(name);
const facts = JSON.parse(byId("robot-data").textContent);
const state = {};
let figure, freeBody, calculator, mechanism, motion, waiting, measured;

// Base64 of deflated text -> text.
async function unpacked(name) {
  const bytes = Uint8Array.from(atob(byId(name).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// The generated functions, as a script element: a page from a file cannot import modules.
async function loadFunctions() {
  const script = document.createElement("script");
  script.textContent = `${await unpacked("functions")}\nwindow.symgen = symgen;`;
  document.head.append(script);
  return window.symgen;
}

function setState(kind, values) {
  state[kind] = Float64Array.from(values);
  for (const input of document.querySelectorAll(`input[data-kind="${kind}"]`)) {
    const value = values[Number(input.dataset.index)];
    if (input.type === "range" && kind.startsWith("qd")) widen(input, Math.abs(value));
    input.value = String(Math.abs(value) < 1e-12 ? 0 : Number(value.toPrecision(6)));
  }
}

// A slider of velocities or accelerations reaches farther than its value.
function widen(slider, value) {
  if (value <= Number(slider.max)) return;
  slider.max = Math.ceil(1.5 * value);
  slider.min = -slider.max;
}

function setAll(choose) {
  for (const kind of ["q", "qd", "qdd"]) setState(kind, facts.coordinates.map((c) => choose(c, kind)));
}

// The same of a mechanism, near to where the loops close; false where they do not close from there.
function setNear(choose) {
  const wanted = Float64Array.from(facts.coordinates, (c) => choose(c, "q"));
  const q = mechanism.close(mechanism.configuration.of(wanted));
  if (!q) return false;
  setAll(choose);
  setState("q", mechanism.configuration.sliders(q));
  setRates();
  return true;
}

function setNearAny(choose, tries) {
  let done = false;
  for (let k = 0; k < tries && !done; k += 1) done = setNear(choose);
  return done;
}

// Velocities and accelerations with which the loops stay closed.
function setRates() {
  const q = mechanism.configuration.of(state.q);
  setState("qd", mechanism.velocities(q, state.qd));
  setState("qdd", mechanism.accelerations(q, state.qd, state.qdd));
}

// What a slider of a mechanism moves: the rest follows, and it stops where the loops open.
function follow(kind, k, value) {
  let reached = true;
  if (kind === "q") {
    const found = mechanism.follow(state.q, k, value);
    setState("q", found.sliders);
    reached = found.reached;
  } else if (kind === "qd" || kind === "qdd") {
    state[kind][k] = value;
    mechanism.lead[kind] = k;
  } else {
    const before = state[kind][k];
    state[kind][k] = value;
    const q = mechanism.close(mechanism.configuration.of(state.q));
    reached = q !== null;
    if (q) setState("q", mechanism.configuration.sliders(q));
    else state[kind][k] = before;
  }
  setRates();
  if (kind === "qd" || kind === "qdd") reached = Math.abs(state[kind][k] - value) <= 1e-9 * (1 + Math.abs(value));
  if (!reached) setState(kind, state[kind]);
  byId("closing-status").textContent = reached ? "" : "The loops let it go no farther with the others as they are; where coordinates depend on each other, another slider may move them.";
}

// Parameters as in the file, and no loads.
function setGiven() {
  if (facts.parameters.length) setState("parameters", facts.parameters.map((item) => item.value));
  if (facts.loads.length) setState("loads", facts.loads.flatMap(() => [0, 0, 0, 0, 0, 0]));
  if (facts.closing?.timed) setState("t", [0]);
}

const STATES = {
  first: (coordinate, kind) => coordinate[kind],
  zero: (coordinate, kind) => (kind === "q" ? Math.min(Math.max(0, coordinate.low), coordinate.high) : 0),
  rest: (coordinate, kind) => (kind === "q" ? state.q[facts.coordinates.indexOf(coordinate)] : 0),
  random: (coordinate, kind) => {
    const [low, high] = kind === "q" ? [coordinate.low, coordinate.high] : [-3, 3];
    return low + Math.random() * (high - low);
  },
};

function refresh() {
  waiting = undefined;
  showPose();
  const results = calculator.compute(state);
  fillTable(byId("torques"), results.torques, facts.coordinates, (c) => c.torque);
  sayAgreement(byId("torques-verdict"), "torques", results.torques, calculator.usual.torques);
  const parts = calculator.parts(state);
  if (parts) fillParts(byId("parts"), parts, facts.coordinates);
  if (mechanism) showClosing();
  else fillTable(byId("accelerations"), results.accelerations, facts.coordinates, (c) => `${c.unit}/s²`);
  if (!mechanism) sayAgreement(byId("accelerations-verdict"), "accelerations", results.accelerations, calculator.usual.accelerations);
  showGradient(results.gradient);
  showFreeBody();
  motion.begin(state);
  plotMotion(motion.track, Number(byId("phase-coordinate").value));
}

// What the drives do, what closes the loops, and the accelerations that these torques give.
function showClosing() {
  const q = mechanism.configuration.of(state.q);
  const freedom = mechanism.freedom(q);
  byId("freedom").textContent = freedomInWords(freedom);
  byId("freedom").dataset.free = freedom.free;
  byId("freedom").dataset.open = most(mechanism.open(q));
  const { tau, multipliers, able } = mechanism.drives(q, state.qd, state.qdd);
  const column = able ? tau : tau.map(() => NaN);
  fillTable(byId("drives"), { drives: column }, facts.coordinates, (c) => c.torque);
  byId("drives-verdict").textContent = able ? "" : "The drives cannot produce this motion.";
  fillMultipliers(byId("multipliers"), mechanism.rows, multipliers, freedom.unique);
  if (mechanism.loops.length) fillWrenches(byId("wrenches"), mechanism.loops, mechanism.call("loop_wrenches", q, multipliers));
  const qdd = mechanism.motion(q, state.qd, column);
  fillTable(byId("accelerations"), { constrained: qdd }, facts.coordinates, (c) => `${c.unit}/s²`);
  sayReturned(byId("accelerations-verdict"), able, state.qdd, qdd, calculator.free(q, state.qd));
}

function showFreeBody() {
  const wrenches = facts.bodies.length ? calculator.wrenches(state) : null;
  if (!wrenches) return;
  const model = modelAt(facts, state.parameters);
  const poses = rows(calculator.poses(state.q), facts.links.length);
  const k = Number(byId("free-body-of").value);
  const acting = forcesOn(k, model, poses, wrenches, state.loads ?? []);
  freeBody.draw(k, model, poses, acting);
  const { mass, acceleration } = fillForces(byId("forces"), acting);
  byId("free-body-sum").textContent = mass
    ? `The sum of the forces is m a: m = ${digits(mass)} kg, and the centre of mass accelerates by (${acceleration.map(digits).join(", ")}) m/s².`
    : "Without mass, all that acts on it is in balance.";
}

function showPose() {
  if (!facts.links.length) return;
  const poses = calculator.poses(state.q);
  figure.adjust(modelAt(facts, state.parameters), state.loads);
  if (measured !== String(state.parameters)) { // other lengths
    measured = String(state.parameters);
    figure.measure(poses);
    if (facts.links.length) faceMotion();
  }
  figure.show(poses);
  if (figure.leaves()) {
    figure.include();
    figure.draw();
  }
  byId("positions").replaceChildren(...facts.links.map((link, i) => row(
    cell("th", link.name, { scope: "row" }),
    ...[3, 7, 11].map((k) => numberCell(poses[16 * i + k])),
  )));
}

function showGradient(gradient) {
  const by = byId("by").value;
  const chosen = gradient[byId("gradient-formulation").value];
  if (chosen) {
    fillGradient(byId("gradient"), chosen[by], facts.coordinates.length, facts.closing?.actuated);
    byId("gradient-words").textContent = gradientInWords(chosen[by], by, facts.coordinates, facts.closing?.actuated);
    byId("rank").textContent = rankInWords(chosen.dtau_dqdd, facts.coordinates.length, facts.closing ? "M of the tree cut open" : "M");
  }
  const arrays = Object.fromEntries(Object.entries(gradient).map(([name, found]) => [name, found[by]]));
  sayAgreement(byId("gradient-verdict"), "gradients", arrays, calculator.usual.gradient);
}

function listenToMotion() {
  const buttons = document.querySelectorAll(".play");
  const pressed = (playing) => {
    motion.playing = playing;
    for (const button of buttons) {
      button.textContent = playing ? "Pause" : "Play";
      button.setAttribute("aria-pressed", String(playing));
    }
  };
  motion = new Motion(calculator, (moved) => {
    if (moved) {
      byId("motion-status").dataset.time = motion.time;
      setState("q", moved.q);
      setState("qd", moved.qd);
      setState("qdd", Array.from(calculator.free(calculator.configuration.of(moved.q), moved.qd)));
      refreshSoon();
      return;
    }
    pressed(false);
    byId("motion-status").textContent = mechanism
      ? "The motion is not determined here, or too fast for the steps of a page; symgen.simulate takes shorter ones."
      : "The mass matrix is singular here, or the motion left the range of numbers.";
  });
  if (!mechanism && !calculator.having("forward_dynamics").length) {
    for (const button of buttons) button.disabled = true;
    byId("motion-status").textContent = "The accelerations of this robot are too long for a page.";
  }
  for (const button of buttons) {
    button.addEventListener("click", () => {
      byId("motion-status").textContent = "";
      pressed(!motion.playing);
      if (motion.playing) motion.play(state);
    });
  }
  byId("phase-coordinate").addEventListener("change", ({ target }) => plotMotion(motion.track, Number(target.value)));
  for (const other of document.querySelectorAll("button[data-state]")) other.addEventListener("click", () => pressed(false));
}

// Robots that move in a plane are seen from the front of that plane, which "Front" means then.
let faced;
function faceMotion() {
  if (faced) return;
  faced = true;
  const poses = [0, 1, 2, 3].map((k) => calculator.poses(state.q.map((x, i) => x + 0.3 * Math.sin(7 * k * (i + 1)))));
  const view = figure.frontOf(poses);
  if (view) figure.face(view);
}

// The figure stays in sight, small, where the calculator is beside it.
function keepInSight() {
  const seen = new Map();
  let hidden = false;
  document.querySelector("#stage .hide").addEventListener("click", () => {
    hidden = true;
    byId("stage").classList.remove("aside");
  });
  const watch = (id, key, rootMargin) => new IntersectionObserver((entries) => {
    seen.set(key, entries[entries.length - 1].isIntersecting);
    if (seen.get("place")) hidden = false;
    byId("stage").classList.toggle("aside", !hidden && seen.get("top") && seen.get("bottom") && !seen.get("place"));
  }, { rootMargin }).observe(byId(id));
  watch("place", "place", "0px 0px -60% 0px");
  watch("calculator", "top", "0px 0px -99% 0px");
  watch("calculator", "bottom", "-30% 0px -69% 0px");
}

// A page from a file may have no clipboard; what is selected can be copied all the same.
async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* not allowed: below */ }
  }
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

function listenToCopying() {
  document.addEventListener("click", async ({ target }) => {
    if (!target.dataset.latex) return;
    const done = await copyText(target.dataset.latex);
    target.textContent = done ? "Copied" : "Not allowed here";
    setTimeout(() => { target.textContent = "Copy LaTeX"; }, 1500);
  });
}

function refreshSoon() {
  waiting ??= requestAnimationFrame(refresh);
}

function listen() {
  document.addEventListener("input", ({ target }) => {
    const { kind, index } = target.dataset;
    const value = Number(target.value);
    if (!kind || target.value === "" || !Number.isFinite(value)) return;
    if (mechanism && kind !== "loads") follow(kind, Number(index), value);
    else state[kind][Number(index)] = value;
    for (const twin of document.querySelectorAll(`input[data-kind="${kind}"][data-index="${index}"]`)) {
      const here = state[kind][Number(index)];
      if (twin !== target || here !== value) twin.value = String(Number(here.toPrecision(6)));
    }
    refreshSoon();
  });
  for (const button of document.querySelectorAll("button[data-state]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.state;
      if (name === "first") setGiven();
      if (!mechanism) setAll(STATES[name]);
      else {
        const done = setNearAny(STATES[name], name === "random" ? 30 : 1);
        byId("closing-status").textContent = done ? "" : "The loops do not close near there.";
      }
      refresh();
    });
  }
  for (const button of document.querySelectorAll("button[data-view]")) {
    button.addEventListener("click", () => figure.look(...button.dataset.view.split(",").map(Number)));
  }
  for (const button of document.querySelectorAll("button[data-zoom]")) {
    button.addEventListener("click", () => figure.nearer(Number(button.dataset.zoom)));
  }
  for (const choice of [byId("by"), byId("gradient-formulation"), byId("free-body-of")].filter(Boolean)) choice.addEventListener("change", refresh);
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
}

// Long recursions are built when somebody opens them.
let steps;
async function unfold(place) {
  const key = place.dataset.steps;
  delete place.dataset.steps;
  place.textContent = "…";
  steps ??= JSON.parse(await unpacked("steps"));
  const { sections, results, latex } = steps[key];
  const parts = sections.flatMap(([heading, groups]) => [
    cell("h5", heading),
    ...groups.map(([label, text]) => {
      const group = cell("div", "", { class: "group" });
      const lines = cell("div", "", { class: "lines" });
      lines.innerHTML = text;
      group.append(cell("span", label, { class: "label" }), lines);
      return group;
    }),
  ]);
  if (latex) parts.unshift(cell("button", "Copy LaTeX", { type: "button", class: "copy", "data-latex": latex }));
  place.replaceChildren(...parts, cell("h5", "results"), cell("pre", results));
}

function listenToRecursions() {
  for (const details of document.querySelectorAll("details.function")) {
    details.addEventListener("toggle", () => {
      const place = details.querySelector("[data-steps]");
      if (details.open && place) unfold(place);
    });
    details.addEventListener("pointerover", ({ target }) => {
      const label = target.closest(".group")?.querySelector(".label").textContent.replace(/^d /, "");
      for (const entry of details.querySelectorAll(".formulas dl > div")) {
        const names = entry.querySelector("dt").textContent.replace(/^d /, "");
        entry.classList.toggle("named", label !== undefined && names === label);
      }
    });
  }
}

async function start() {
  listenToRecursions();
  setGiven();
  calculator = new Calculator(facts, await loadFunctions(), state);
  figure = new Figure(byId("figure"), modelAt(facts, state.parameters));
  if (byId("free-body")) {
    freeBody = new FreeBody(byId("free-body"), figure);
    figure.watchers.push(() => { if (document.body.dataset.ready) refreshSoon(); });
  }
  const names = calculator.having("inverse_dynamics_derivatives");
  byId("gradient-formulation").append(...names.map((name) => cell("option", name, { value: name })));
  setAll(STATES.first);
  if (facts.closing) {
    mechanism = calculator.mechanism = new Mechanism(calculator);
    setNear(STATES.first);
  }
  calculator.measure(state);
  listen();
  listenToMotion();
  keepInSight();
  listenToCopying();
  refresh();
  document.body.dataset.ready = "yes";
}

start();
