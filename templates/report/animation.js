// A motion that was computed before: poses of all links at evenly spaced instants, played.

const MANY = 16; // links, of which frames are not drawn

const byId = (name) => document.getElementById(name);

// Base64 of deflated float32 -> numbers.
async function unpackedNumbers(name) {
  const bytes = Uint8Array.from(atob(byId(name).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Float32Array(await new Response(stream).arrayBuffer());
}

class Player {
  constructor(facts, poses, vertices, faces, forces) {
    Object.assign(this, { facts, poses, forces, time: 0, playing: false });
    const model = modelAt({ ...facts.figure, parameters: [], bodies: [] }, []);
    this.figure = new Figure(byId("figure"), model);
    if (facts.shapes.length) this.solids = new Solids(this.figure, facts.shapes, vertices, faces);
    if (facts.figure.links.length > MANY) this.figure.size = 0.5;
    byId("figure").classList.toggle("fine", this.figure.size < 1);
    if (forces.length) {
      const loaded = new Set(model.loads.map(({ name }) => name));
      Object.assign(this.figure, { reach: 0.5, walks: true });
      this.figure.adjust({ ...model, points: model.points.filter(({ name }) => !loaded.has(name)) });
    }
    const shown = { ...model, forces, obstacles: facts.shapes.filter(({ link, opacity }) => link >= 0 && opacity < 1) };
    for (const span of document.querySelectorAll("[data-of]")) span.hidden = !shown[span.dataset.of]?.length;
    this.measure(model.points);
    this.listen();
    this.show(0);
  }

  // The poses of one frame, 16 numbers a link.
  frame(k) {
    const count = this.facts.figure.links.length;
    const found = [];
    for (let i = k * count; i < (k + 1) * count; i += 1) found.push(...this.poses.subarray(12 * i, 12 * i + 12), 0, 0, 0, 1);
    return found;
  }

  // Forces of loads, six numbers each, and the zero-moment point, of one frame.
  pushed(k) {
    const size = this.forces.length / this.facts.frames;
    const row = this.forces.subarray(k * size, (k + 1) * size);
    return { loads: row.subarray(0, -3), marks: size ? [[...row.subarray(-3)]] : [] };
  }

  // The whole motion fits into the picture, with the parts of obstacles that are nearer than it is long; points leave trails.
  measure(points) {
    const { figure, solids } = this;
    let [low, high] = [[0, 0, 0], [0, 0, 0]];
    const enclose = (place) => {
      low = low.map((x, i) => Math.min(x, place[i]));
      high = high.map((x, i) => Math.max(x, place[i]));
    };
    figure.trails = points.map(() => []);
    for (let k = 0; k < this.facts.frames; k += 1) {
      figure.poses = rows(this.frame(k), this.facts.figure.links.length);
      figure.places().forEach(enclose);
      points.forEach((point, i) => figure.trails[i].push(figure.at(point.link, point.at)));
      const { loads } = this.pushed(k);
      for (let i = 0; i < loads.length; i += 6) figure.largest = Math.max(figure.largest, Math.hypot(...loads.subarray(i, i + 3)));
    }
    const [size, least, most] = [distance(low, high), low, high];
    const near = (place) => place.map((x, i) => Math.min(Math.max(x, least[i] - size), most[i] + size));
    for (const [from, to] of solids?.atRest() ?? []) {
      const reached = from.every((x, i) => x < most[i] + size && to[i] > least[i] - size);
      if (reached) [from, to].forEach((place) => enclose(near(place)));
    }
    const view = figure.frontOf([0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => this.frame(Math.round(share * (this.facts.frames - 1)))));
    if (view) figure.face(view);
    figure.whole = low.map((x, i) => (x + high[i]) / 2);
    figure.extent = Math.max(0.05, (figure.walks ? 0.48 : 0.6) * distance(low, high), 0.6 * (solids?.radius ?? 0));
  }

  show(time) {
    this.time = time;
    const k = Math.round((time / this.facts.duration) * (this.facts.frames - 1));
    Object.assign(this.figure, this.pushed(k));
    this.figure.show(this.frame(k));
    byId("time").value = time;
    byId("clock").textContent = `${(this.facts.start + time).toFixed(2)} s`;
    for (const { svg, place } of this.curves ?? []) svg.querySelector(".cursor").setAttribute("x1", place(time)), svg.querySelector(".cursor").setAttribute("x2", place(time));
  }

  play() {
    this.playing = !this.playing;
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(this.playing));
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      const time = this.time + (Number(byId("speed").value) * (now - before)) / 1000;
      before = now;
      this.show(time > this.facts.duration ? 0 : time);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  listen() {
    byId("time").max = this.facts.duration;
    byId("time").addEventListener("input", ({ target }) => this.show(Number(target.value)));
    byId("play").addEventListener("click", () => this.play());
    for (const button of document.querySelectorAll("button[data-view]")) {
      button.addEventListener("click", () => this.figure.look(...button.dataset.view.split(",").map(Number)));
    }
    for (const button of document.querySelectorAll("button[data-zoom]")) {
      button.addEventListener("click", () => this.figure.nearer(Number(button.dataset.zoom)));
    }
  }

  // One plot for each kind of curve, every coordinate in its colour, with a cursor.
  drawCurves() {
    const times = this.facts.times.map(([t]) => t);
    this.curves = this.facts.curves.map(({ title, names, colours, values, levels }) => {
      const svg = element("svg", { viewBox: "0 0 400 220", role: "img", "aria-label": title });
      const ends = [times[0], times[times.length - 1]];
      const left = plot(svg, [
        ...names.map((_, i) => [`curve-${colours[i]}`, times.map((t, k) => [t, values[k][i]])]),
        ...levels.map(([level, i]) => [`limit curve-${colours[i]}`, ends.map((t) => [t, level])]),
      ], [], true);
      svg.append(element("line", { class: "cursor", x1: left, y1: 10, x2: left, y2: 195 }));
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.append(`${title} over time (s): `);
      names.forEach((coordinate, i) => {
        const word = document.createElement("span");
        word.className = `curve-${colours[i]}`;
        word.textContent = coordinate;
        caption.append(word, i < names.length - 1 ? ", " : "");
      });
      figure.append(svg, caption);
      byId("curves").append(figure);
      return { svg, place: (time) => left + ((390 - left) * time) / this.facts.duration };
    });
  }
}

async function startPlayer() {
  const facts = JSON.parse(byId("player").textContent);
  const arrays = await Promise.all(["poses", "vertices", "faces", "forces"].map(unpackedNumbers));
  const player = new Player(facts, ...arrays);
  player.drawCurves();
  player.show(0);
  document.body.dataset.ready = "yes";
}

startPlayer();
