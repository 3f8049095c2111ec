// The page: sliders, tables, the figure, and what is unfolded when it is opened.

const byId = (name) => document.getElementById(name);
const facts = JSON.parse(byId("robot-data").textContent);
const state = {};
let figure, freeBody, calculator, motion, waiting, measured;

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
    input.value = String(Number(values[Number(input.dataset.index)].toPrecision(6)));
  }
}

function setAll(choose) {
  for (const kind of ["q", "qd", "qdd"]) setState(kind, facts.coordinates.map((c) => choose(c, kind)));
}

// Parameters as in the file, and no loads.
function setGiven() {
  if (facts.parameters.length) setState("parameters", facts.parameters.map((item) => item.value));
  if (facts.loads.length) setState("loads", facts.loads.flatMap(() => [0, 0, 0, 0, 0, 0]));
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
  fillTable(byId("accelerations"), results.accelerations, facts.coordinates, (c) => `${c.unit}/s²`);
  sayAgreement(byId("accelerations-verdict"), "accelerations", results.accelerations, calculator.usual.accelerations);
  showGradient(results.gradient);
  showFreeBody();
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
  const short = (x) => Number(x.toPrecision(4)).toString();
  byId("free-body-sum").textContent = mass
    ? `The sum of the forces is m a: m = ${short(mass)} kg, and the centre of mass accelerates by (${acceleration.map((a) => short(Math.abs(a) < 1e-12 ? 0 : a)).join(", ")}) m/s².`
    : "Without mass, all that acts on it is in balance.";
}

function showPose() {
  if (!facts.links.length) return;
  const poses = calculator.poses(state.q);
  figure.adjust(modelAt(facts, state.parameters), state.loads);
  if (measured !== String(state.parameters)) { // other lengths
    measured = String(state.parameters);
    figure.measure(poses);
  }
  figure.show(poses);
  byId("positions").replaceChildren(...facts.links.map((link, i) => row(
    cell("th", link.name, { scope: "row" }),
    ...[3, 7, 11].map((k) => cell("td", poses[16 * i + k].toFixed(4))),
  )));
}

function showGradient(gradient) {
  const by = byId("by").value;
  const chosen = gradient[byId("gradient-formulation").value];
  if (chosen) {
    fillGradient(byId("gradient"), chosen[by], facts.coordinates.length);
    byId("gradient-words").textContent = gradientInWords(chosen[by], by, facts.coordinates);
    byId("rank").textContent = rankInWords(chosen.dtau_dqdd, facts.coordinates.length);
  }
  const arrays = Object.fromEntries(Object.entries(gradient).map(([name, found]) => [name, found[by]]));
  sayAgreement(byId("gradient-verdict"), "gradients", arrays, calculator.usual.gradient);
}

function listenToMotion() {
  const button = byId("play");
  const pressed = (playing) => {
    motion.playing = playing;
    button.textContent = playing ? "Pause" : "Play";
    button.setAttribute("aria-pressed", String(playing));
  };
  motion = new Motion(calculator, (moved) => {
    if (moved) {
      byId("motion-status").dataset.time = motion.time;
      setState("q", moved.q);
      setState("qd", moved.qd);
      refreshSoon();
      plotMotion(motion.track, Number(byId("phase-coordinate").value));
      return;
    }
    pressed(false);
    byId("motion-status").textContent = "The mass matrix is singular here, or the motion left the range of numbers.";
  });
  if (!calculator.having("forward_dynamics").length) {
    button.disabled = true;
    byId("motion-status").textContent = "The accelerations of this robot are too long for a page.";
  }
  button.addEventListener("click", () => {
    byId("motion-status").textContent = "";
    pressed(!motion.playing);
    if (motion.playing) motion.play(state);
  });
  byId("phase-coordinate").addEventListener("change", ({ target }) => plotMotion(motion.track, Number(target.value)));
  for (const other of document.querySelectorAll("button[data-state]")) other.addEventListener("click", () => pressed(false));
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
    state[kind][Number(index)] = value;
    for (const twin of document.querySelectorAll(`input[data-kind="${kind}"][data-index="${index}"]`)) {
      if (twin !== target) twin.value = String(Number(value.toPrecision(6)));
    }
    refreshSoon();
  });
  for (const button of document.querySelectorAll("button[data-state]")) {
    button.addEventListener("click", () => {
      if (button.dataset.state === "first") setGiven();
      setAll(STATES[button.dataset.state]);
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
  const { sections, results } = steps[key];
  const parts = sections.flatMap(([heading, groups]) => [
    cell("h5", heading),
    ...groups.map(([label, text]) => {
      const group = cell("div", "", { class: "group" });
      group.append(cell("span", label, { class: "label" }), cell("pre", text));
      return group;
    }),
  ]);
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
  calculator.measure(state);
  listen();
  listenToMotion();
  listenToCopying();
  refresh();
  document.body.dataset.ready = "yes";
}

start();
