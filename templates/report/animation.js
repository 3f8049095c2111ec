// A motion that was computed before: poses of all links at evenly spaced instants, played.

const byId = (name) => document.getElementById(name);

// Base64 of deflated float32 -> numbers.
async function unpackedNumbers(name) {
  const bytes = Uint8Array.from(atob(byId(name).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Float32Array(await new Response(stream).arrayBuffer());
}

class Player {
  constructor(facts, poses, places, vertices, faces) {
    Object.assign(this, { facts, poses, places, time: 0, playing: false });
    this.figure = new Figure(byId("figure"), { links: facts.links, points: [], loads: [], gravity: facts.gravity });
    if (facts.shapes.length) this.solids = new Solids(this.figure, facts.shapes, vertices, faces);
    this.figure.trails = facts.points.map((_, i) => Array.from({ length: facts.frames }, (__, frame) => this.place(frame, i)));
    this.measure();
    this.listen();
    this.show(0);
  }

  place(frame, i) {
    const first = 3 * (frame * this.facts.points.length + i);
    return Array.from(this.places.subarray(first, first + 3));
  }

  // The poses of one frame, 16 numbers a link.
  frame(k) {
    const size = 12 * this.facts.links.length;
    const found = [];
    for (let i = 0; i < this.facts.links.length; i += 1) {
      found.push(...this.poses.subarray(k * size + 12 * i, k * size + 12 * i + 12), 0, 0, 0, 1);
    }
    return found;
  }

  // The whole motion fits into the picture.
  measure() {
    let low = [0, 0, 0], high = [0, 0, 0];
    for (let k = 0; k < this.poses.length; k += 12) {
      const place = [this.poses[k + 3], this.poses[k + 7], this.poses[k + 11]];
      low = low.map((x, i) => Math.min(x, place[i]));
      high = high.map((x, i) => Math.max(x, place[i]));
    }
    this.figure.centre = low.map((x, i) => (x + high[i]) / 2);
    this.figure.extent = Math.max(0.05, 0.6 * distance(low, high), 0.6 * (this.solids?.radius ?? 0));
  }

  show(time) {
    this.time = time;
    const k = Math.round((time / this.facts.duration) * (this.facts.frames - 1));
    this.figure.facts.points = this.facts.points.map((name, i) => ({ name, link: -1, at: this.place(k, i) }));
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

  // One plot for each kind of curve, every coordinate in a colour of its own, with a cursor.
  drawCurves() {
    const words = { q: "Coordinates (rad, m)", tau: "Torques and forces (N m, N)" };
    const times = this.facts.times.map(([t]) => t);
    this.curves = this.facts.curves.map(({ name, names, values }) => {
      const svg = element("svg", { viewBox: "0 0 400 220", role: "img", "aria-label": words[name] });
      plot(svg, names.map((_, i) => [`curve-${i % 8}`, times.map((t, k) => [t, values[k][i]])]), [], true);
      svg.append(element("line", { class: "cursor", x1: 50, y1: 10, x2: 50, y2: 195 }));
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.append(`${words[name]} over time (s): `);
      names.forEach((coordinate, i) => {
        const word = document.createElement("span");
        word.className = `curve-${i % 8}`;
        word.textContent = coordinate;
        caption.append(word, i < names.length - 1 ? ", " : "");
      });
      figure.append(svg, caption);
      byId("curves").append(figure);
      return { svg, place: (time) => 50 + (340 * time) / this.facts.duration };
    });
  }
}

async function startPlayer() {
  const facts = JSON.parse(byId("player").textContent);
  const player = new Player(facts, await unpackedNumbers("poses"), await unpackedNumbers("places"), await unpackedNumbers("vertices"), await unpackedNumbers("faces"));
  player.drawCurves();
  player.show(0);
  document.body.dataset.ready = "yes";
}

startPlayer();
