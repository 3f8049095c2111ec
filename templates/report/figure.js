// The stick figure: poses of the link frames -> SVG, seen from a direction that can be turned.

const SVG = "http://www.w3.org/2000/svg";

class Figure {
  // `facts` are links, points, loads and gravity in numbers: see `modelAt`.
  constructor(svg, facts) {
    this.svg = svg;
    this.watchers = [];
    this.trails = [];
    this.marks = [];
    this.largest = 0; // force, N
    this.reach = 0.25; // of its arrow, in units of the robot
    this.size = 1; // of joints, masses and points; below 1 without the frames of links
    this.walks = false; // what moves all of the robot has no bones
    this.adjust(facts);
    this.turn = 0.6;
    this.tilt = 0.35;
    this.zoom = 1;
    this.poses = [];
    this.extent = 1;
    this.centre = [0, 0, 0];
    this.whole = null; // centre of a motion
    this.listen();
  }

  // Other lengths and masses of the same robot, and its loads, six numbers each, in base axes.
  adjust(facts, loads = []) {
    this.loads = loads;
    this.facts = { ...facts, points: [...facts.loads, ...facts.points] };
    this.room = upright(facts.gravity);
  }

  // Poses are row by row, 16 numbers for every link.
  show(poses) {
    this.poses = rows(poses, this.facts.links.length);
    this.draw();
  }

  // Where to look and how far the robot reaches: this stays while it moves within the picture.
  measure(poses) {
    this.poses = rows(poses, this.facts.links.length);
    this.reaches = [];
    this.facts.links.forEach((link, i) => {
      const before = link.parent < 0 ? 0 : this.reaches[link.parent];
      this.reaches.push(before + distance(this.origin(link.parent), this.origin(i)));
    });
    this.box = [[0, 0, 0]];
    this.include();
  }

  // The picture grows to hold what it has shown, and what it shows now.
  include() {
    const places = [...this.box, ...this.places()];
    this.box = [Math.min, Math.max].map((end) => [0, 1, 2].map((k) => end(...places.map((place) => place[k]))));
    const [low, high] = this.box;
    this.centre = low.map((x, k) => (x + high[k]) / 2);
    this.extent = Math.max(0.05, 0.55 * distance(low, high), 0.65 * Math.max(...this.reaches));
  }

  // Turn and tilt to look straight at the plane in which all motion between the poses lies; null if none.
  frontOf(listed) {
    const places = listed.map((poses) => { this.poses = rows(poses, this.facts.links.length); return this.places(); });
    const moves = places.slice(1).flatMap((now) => now.map((place, i) => place.map((x, k) => x - places[0][i][k])));
    const most = (list) => list.reduce((a, b) => (Math.hypot(...b) > Math.hypot(...a) ? b : a), [0, 0, 0]);
    const size = Math.hypot(...most(moves));
    const across = most(moves.map((move) => cross(most(moves), move)));
    if (!(Math.hypot(...across) > 1e-6 * size * size)) return null;
    const normal = across.map((x) => x / Math.hypot(...across));
    if (moves.some((move) => Math.abs(dot(move, normal)) > 1e-6 * size)) return null;
    const [x, y, z] = this.room.map((axis) => dot(axis, normal));
    const sign = Math.sign([z, x, -y].find((entry) => Math.abs(entry) > 1e-6));
    return [Math.hypot(x, y) > 1e-6 ? Math.atan2(-sign * y, sign * x) : 0, Math.asin(Math.max(-1, Math.min(1, sign * z)))];
  }

  // Look along the normal of that plane, at first and by the button "Front".
  face(view) {
    [this.turn, this.tilt] = view;
    document.querySelector('button[data-view="0,0"]').dataset.view = view.join();
  }

  places() {
    const found = this.poses.map((pose) => [pose[3], pose[7], pose[11]]);
    this.facts.links.forEach((link, i) => found.push(moved(this.poses[i], link.com)));
    this.facts.points.forEach((point) => found.push(this.at(point.link, point.at)));
    for (const { ends } of [...(this.facts.loops ?? []), ...(this.facts.springs ?? [])]) {
      found.push(...ends.map((end) => this.at(end.link, end.at)));
    }
    for (const wheel of this.facts.wheels ?? []) found.push(...this.rim(wheel, 0, 4));
    return found;
  }

  // Whether something has moved out of the picture, which nobody has enlarged.
  leaves() {
    const outside = ([x, y]) => Math.abs(x) > 195 || Math.abs(y) > 155;
    return this.zoom <= 1 && this.places().some((place) => outside(this.project(place)));
  }

  at(link, place) {
    return link < 0 ? place : moved(this.poses[link], place);
  }

  origin(link) {
    return link < 0 ? [0, 0, 0] : [this.poses[link][3], this.poses[link][7], this.poses[link][11]];
  }

  // Base axes -> picture: x to the right, y downwards; gravity points down.
  project(place) {
    const scale = (135 / this.extent) * this.zoom;
    return this.seen(place.map((entry, k) => entry - this.centre[k])).map((x) => x * scale);
  }

  // The same of a vector, without the scale.
  seen(vector) {
    const [x, y, z] = this.room.map((axis) => dot(axis, vector));
    const [s, c] = [Math.sin(this.turn), Math.cos(this.turn)];
    const [u, v] = [x * c - y * s, x * s + y * c];
    return [v, -(z * Math.cos(this.tilt) - u * Math.sin(this.tilt))];
  }

  // The direction to the eye, in base axes.
  towards() {
    const [s, c] = [Math.sin(this.turn), Math.cos(this.turn)];
    const [ct, st] = [Math.cos(this.tilt), Math.sin(this.tilt)];
    const inRoom = [c * ct, -s * ct, st];
    return [0, 1, 2].map((k) => inRoom.reduce((sum, x, axis) => sum + x * this.room[axis][k], 0));
  }

  draw() {
    const parts = [];
    if (this.whole) { // the nearer, the more it follows the robot
      const [places, near] = [this.places(), Math.max(0, 1 - 1 / this.zoom)];
      const middle = [0, 1, 2].map((k) => places.reduce((sum, place) => sum + place[k], 0) / places.length);
      this.centre = this.whole.map((x, k) => x + near * (middle[k] - x));
    }
    const line = (name, a, b) => {
      const [[x1, y1], [x2, y2]] = [this.project(a), this.project(b)];
      parts.push(["line", { class: name, x1, y1, x2, y2 }]);
    };
    const [u, v] = this.room.slice(0, 2).map((axis) => dot(axis, this.whole ?? this.centre)); // below the centre of the picture
    const floor = (i, k) => [0, 1, 2].map((entry) => (
      (u + 0.4 * this.extent * i) * this.room[0][entry] + (v + 0.4 * this.extent * k) * this.room[1][entry]
    ));
    for (let k = -2; k <= 2; k += 1) {
      line("floor", floor(k, -2), floor(k, 2));
      line("floor", floor(-2, k), floor(2, k));
    }
    const { links } = this.facts;
    const free = (i) => this.walks && (i < 0 || (links[i].mass === 0 && free(links[i].parent)));
    links.forEach((link, i) => { if (!free(link.parent)) line(link.slides ? "rail" : "bone", this.origin(link.parent), this.origin(i)); });
    const carrying = new Set([...links.map(({ parent }) => parent), ...(this.facts.loops ?? []).flatMap(({ ends }) => ends.map((end) => end.link))]);
    const within = (i) => (carrying.has(i) || free(i) ? "thin" : "bone"); // the last links have no next joint
    links.forEach((link, i) => {
      if (link.mass > 0) line(within(i), this.origin(i), moved(this.poses[i], link.com));
    });
    for (const point of this.facts.points) {
      if (point.link >= 0) line(within(point.link), this.origin(point.link), this.at(point.link, point.at));
    }
    links.forEach((link, i) => { if (link.slides) this.slider(parts, this.origin(i), this.at(i, link.slides)); });
    this.wheels(line, parts);
    this.closing(line, parts);
    this.axes(line, parts, -1, 0.24);
    if (this.size === 1) this.facts.links.forEach((link, i) => this.axes(line, parts, i, 0.13));
    this.facts.links.forEach((link, i) => {
      const [x, y] = this.project(this.origin(link.parent));
      if (!free(link.parent) && !link.slides) parts.push(["circle", { class: "joint", cx: x, cy: y, r: 3.2 * this.size }]);
      if (link.mass > 0) {
        const [cx, cy] = this.project(moved(this.poses[i], link.com));
        parts.push(["circle", { class: "mass", cx, cy, r: 2.4 * this.size }, link.name]);
      }
    });
    for (const point of this.facts.points) {
      const [x, y] = this.project(this.at(point.link, point.at));
      const half = 3 * this.size;
      parts.push(["rect", { class: "point", x: x - half, y: y - half, width: 2 * half, height: 2 * half }, point.name]);
    }
    for (const trail of this.trails) {
      const path = trail.map((place) => this.project(place).map((x) => x.toFixed(1)).join(" "));
      parts.push(["path", { class: "trail", d: `M${path.join("L")}` }]);
    }
    this.forces(parts);
    for (const place of this.marks.filter((at) => at.every(Number.isFinite))) {
      const [cx, cy] = this.project(place);
      parts.push(["circle", { class: "centre", cx, cy, r: 4.5 }, "zero-moment point"]);
    }
    this.gravity(parts);
    this.svg.replaceChildren(...parts.map(([tag, attributes, words]) => element(tag, attributes, words)));
    for (const watcher of this.watchers) watcher();
  }

  // What closes loops, each end on its link, a rod where it is a distance; and springs.
  closing(line, parts) {
    for (const { name, rod, ends } of this.facts.loops ?? []) {
      const places = ends.map((end) => this.at(end.link, end.at));
      ends.forEach((end, k) => line("bone", this.origin(end.link), places[k]));
      line(rod ? "rod" : "thin", ...places);
      for (const place of places) {
        const [cx, cy] = this.project(place);
        parts.push(["circle", { class: "closing", cx, cy, r: 4.6 }, name]);
      }
    }
    for (const { ends } of this.facts.springs ?? []) {
      const places = ends.map((end) => this.at(end.link, end.at));
      ends.forEach((end, k) => { if (end.link >= 0) line("thin", this.origin(end.link), places[k]); });
      line("spring", ...places);
    }
  }

  // A block on its rail, along the line to `ahead`.
  slider(parts, place, ahead) {
    const [[x, y], to] = [this.project(place), this.project(ahead)];
    const [u, v] = unit([to[0] - x, to[1] - y]).map((entry) => (entry || 0) * this.size);
    const corners = [[8, 4.5], [-8, 4.5], [-8, -4.5], [8, -4.5]].map(([a, b]) => `${x + a * u - b * v} ${y + a * v + b * u}`);
    parts.push(["path", { class: "joint", d: `M${corners.join("L")}Z` }]);
  }

  // Points of a wheel's rim, at some distance from its centre along its axis.
  rim({ link, at, axis, radius }, side, count) {
    const least = axis.map(Math.abs).indexOf(Math.min(...axis.map(Math.abs)));
    const u = unit(cross(axis, [0, 1, 2].map((k) => Number(k === least))));
    const v = cross(axis, u);
    return Array.from({ length: count }, (_, i) => {
      const [c, s] = [Math.cos(2 * Math.PI * i / count), Math.sin(2 * Math.PI * i / count)];
      return this.at(link, at.map((x, k) => x + side * axis[k] + radius * (c * u[k] + s * v[k])));
    });
  }

  // Both rims of every wheel with the tread between them, and spokes.
  wheels(line, parts) {
    for (const wheel of this.facts.wheels ?? []) {
      const rims = [-0.5, 0.5].map((side) => this.rim(wheel, side * wheel.width, 32));
      for (const rim of rims) {
        const corners = rim.map((place) => this.project(place).map((x) => x.toFixed(1)).join(" "));
        parts.push(["path", { class: "wheel", d: `M${corners.join("L")}Z` }, wheel.name]);
      }
      for (let i = 0; i < 32; i += 4) line("tread", rims[0][i], rims[1][i]);
      for (const rim of rims) for (const i of [0, 8]) line("tread", rim[i], rim[i + 16]);
    }
  }

  axes(line, parts, link, length) {
    const from = this.origin(link);
    ["x", "y", "z"].forEach((name, k) => {
      const tip = [0, 0, 0];
      tip[k] = length * this.extent;
      const to = this.at(link, tip);
      line(`axis axis-${name}`, from, to);
      if (link < 0) {
        const [x, y] = this.project(to);
        parts.push(["text", { x: x + 2, y }, name]);
      }
    });
  }

  // The forces of loads, the largest, here or of a motion, as long as a part of the robot.
  forces(parts) {
    const found = this.facts.loads.map((load, i) => [this.at(load.link, load.at), Array.from(this.loads.slice(6 * i, 6 * i + 3))]);
    const largest = Math.max(1e-300, this.largest, ...found.map(([, force]) => Math.hypot(...force)));
    for (const [place, force] of found) {
      if (force.length < 3 || Math.hypot(...force) < 1e-9 * largest) continue;
      const tip = this.project(place.map((x, k) => x + (this.reach * this.extent * force[k]) / largest));
      const [x, y] = this.project(place);
      if (Math.hypot(tip[0] - x, tip[1] - y) > 2) parts.push(...arrow("part-load", x, y, ...tip));
    }
  }

  gravity(parts) {
    const size = Math.hypot(...this.facts.gravity);
    if (!size) return;
    const along = this.facts.gravity.map((g, k) => this.centre[k] + (0.22 * this.extent * g) / size);
    const [x, y] = this.project(along);
    const start = [-155, -122];
    const end = [start[0] + x / this.zoom, start[1] + y / this.zoom];
    const seen = Math.hypot(end[0] - start[0], end[1] - start[1]);
    if (seen > 2) parts.push(...arrow("gravity", ...start, ...end));
    parts.push(["text", { x: start[0] + 6, y: start[1] + 2 }, "g"]);
  }

  listen() {
    let from = null;
    this.svg.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.look(this.turn - (event.clientX - from[0]) / 120, this.tilt + (event.clientY - from[1]) / 120);
      from = [event.clientX, event.clientY];
    });
    for (const end of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(end, () => { from = null; });
    }
    const keys = {
      ArrowLeft: () => this.look(this.turn + 0.12, this.tilt),
      ArrowRight: () => this.look(this.turn - 0.12, this.tilt),
      ArrowUp: () => this.look(this.turn, this.tilt - 0.12),
      ArrowDown: () => this.look(this.turn, this.tilt + 0.12),
      "+": () => this.nearer(1.25),
      "-": () => this.nearer(0.8),
    };
    this.svg.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  look(turn, tilt) {
    this.turn = turn;
    this.tilt = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, tilt));
    this.draw();
  }

  nearer(factor) {
    this.zoom = Math.max(0.2, Math.min(12, this.zoom * factor));
    this.draw();
  }
}

// Axes of the room in base axes, the last one up: those of the base where z points up, else in turn.
function upright(gravity) {
  const size = Math.hypot(...gravity);
  if (!size) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const up = gravity.map((g) => -g / size);
  const most = up.reduce((k, x, i) => (Math.abs(x) > Math.abs(up[k]) ? i : k), 0);
  const before = [0, 1, 2].map((k) => (k === (most + 2) % 3 ? 1 : 0));
  const flat = before.map((x, k) => x - dot(before, up) * up[k]);
  const side = flat.map((x) => x / Math.hypot(...flat));
  return [cross(side, up), side, up];
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a, b) {
  return [0, 1, 2].map((k) => a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

function rows(flat, count) {
  return Array.from({ length: count }, (_, i) => Array.from(flat.slice(16 * i, 16 * i + 16)));
}

function distance(a, b) {
  return Math.hypot(...a.map((x, k) => x - b[k]));
}

function moved(pose, [x, y, z]) {
  return [0, 4, 8].map((k) => pose[k] * x + pose[k + 1] * y + pose[k + 2] * z + pose[k + 3]);
}

function element(tag, attributes, words) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, typeof value === "number" ? value.toFixed(2) : value);
  }
  if (tag === "text") made.textContent = words;
  else if (words) made.append(Object.assign(document.createElementNS(SVG, "title"), { textContent: words }));
  return made;
}

function arrow(name, x1, y1, x2, y2) {
  const [length, back] = [Math.hypot(x2 - x1, y2 - y1), 6];
  const [u, v] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = [[x2, y2], [x2 - back * u - 3 * v, y2 - back * v + 3 * u], [x2 - back * u + 3 * v, y2 - back * v - 3 * u]];
  return [
    ["line", { class: `force ${name}`, x1, y1, x2: x2 - 4 * u, y2: y2 - 4 * v }],
    ["polygon", { class: `head ${name}`, points: head.map((p) => p.map((c) => c.toFixed(2)).join(",")).join(" ") }],
  ];
}
