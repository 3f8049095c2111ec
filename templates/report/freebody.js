// Free-body diagram: every force and moment that acts on it, in base axes, as the recursion has them.

// The forces on body number k: [{name, class, at, force, moment}], the moment about `at`.  Wrenches
// are those of all joints, six numbers each, exerted by the parent on the link, in link axes.
function forcesOn(k, model, poses, wrenches, loads) {
  const body = model.bodies[k];
  const found = [jointForce(body, model, poses, wrenches, 1)];
  model.bodies.filter((other) => other.parent === k).forEach((child) => found.push(jointForce(child, model, poses, wrenches, -1)));
  const { mass, centre } = centreOf(body, model, poses);
  found.push({ name: "weight", class: "part-gravity", at: centre, force: model.gravity.map((g) => mass * g), moment: [0, 0, 0] });
  model.loads.forEach((load, i) => {
    if (!body.members.includes(load.link)) return;
    const [force, moment] = [loads.slice(6 * i, 6 * i + 3), loads.slice(6 * i + 3, 6 * i + 6)].map((x) => Array.from(x));
    found.push({ name: `load ${load.name}`, class: "part-load", at: moved(poses[load.link], load.at), force, moment });
  });
  return { forces: found, mass, centre };
}

// What acts through the joint that carries `body`: on it (sign 1), or on its parent (sign -1).
function jointForce(body, model, poses, wrenches, sign) {
  const turned = (vector) => [0, 4, 8].map((row) => sign * dot(poses[body.link].slice(row, row + 3), vector));
  const wrench = Array.from(wrenches.slice(6 * body.joint, 6 * body.joint + 6));
  const other = sign > 0 ? body.parent : model.bodies.indexOf(body);
  const name = other < 0 ? "the base" : model.links[model.bodies[other].link].name;
  return {
    name: `from ${name}`,
    class: sign > 0 ? "part-inertial" : "part-centrifugal",
    at: body.seat < 0 ? body.at : moved(poses[body.seat], body.at),
    force: turned(wrench.slice(0, 3)),
    moment: turned(wrench.slice(3)),
  };
}

// Mass and centre of mass of all links that belong to a body.
function centreOf(body, model, poses) {
  const mass = body.members.reduce((sum, i) => sum + model.links[i].mass, 0);
  if (!mass) return { mass, centre: [3, 7, 11].map((k) => poses[body.link][k]) };
  const centre = [0, 0, 0];
  for (const i of body.members) {
    moved(poses[i], model.links[i].com).forEach((x, k) => { centre[k] += (model.links[i].mass / mass) * x; });
  }
  return { mass, centre };
}

// The sum of the forces, and of their moments about `centre`.
function resultant(forces, centre) {
  const sum = { force: [0, 0, 0], moment: [0, 0, 0] };
  for (const { at, force, moment } of forces) {
    const turning = cross(at.map((x, k) => x - centre[k]), force);
    for (const k of [0, 1, 2]) {
      sum.force[k] += force[k];
      sum.moment[k] += moment[k] + turning[k];
    }
  }
  return sum;
}

const MOMENT_RADIUS = 11;

// The body, its joints and what acts on it, seen as the figure is.
class FreeBody {
  constructor(svg, figure) {
    this.svg = svg;
    this.figure = figure;
  }

  draw(k, model, poses, { forces, mass, centre }) {
    const places = [...model.bodies[k].members.map((i) => [3, 7, 11].map((entry) => poses[i][entry])), ...forces.map((f) => f.at), centre];
    const reach = Math.max(1e-6, ...places.map((place) => distance(place, centre)));
    const see = (place) => this.figure.seen(place.map((x, i) => x - centre[i])).map((x) => (62 / reach) * x);
    const parts = [];
    for (const place of places) {
      const [[x1, y1], [x2, y2]] = [see(centre), see(place)];
      parts.push(["line", { class: "bone", x1, y1, x2, y2 }]);
    }
    for (const force of forces) parts.push(["circle", { class: "joint", cx: see(force.at)[0], cy: see(force.at)[1], r: 3 }]);
    if (mass) parts.push(["circle", { class: "mass", cx: 0, cy: 0, r: 3.5 }, "centre of mass"]);
    const largest = Math.max(1e-300, ...forces.map(({ force }) => Math.hypot(...force)));
    const turning = Math.max(1e-300, ...forces.map(({ moment }) => Math.hypot(...moment)));
    for (const force of forces) {
      const [x, y] = see(force.at);
      const [u, v] = this.figure.seen(force.force.map((f) => (80 * f) / largest));
      if (Math.hypot(u, v) > 1.5) parts.push(...arrow(force.class, x, y, x + u, y + v));
      const towards = dot(this.figure.towards(), force.moment);
      if (Math.abs(towards) > 0.01 * turning) parts.push(...turn(force.class, x, y, Math.sign(towards)));
    }
    this.svg.replaceChildren(...parts.map(([tag, attributes, words]) => element(tag, attributes, words)));
  }
}

// An arc around a point: anticlockwise as seen where `sign` is 1, which is a moment towards the eye.
function turn(name, x, y, sign) {
  const r = MOMENT_RADIUS;
  const [from, to] = [[x + r, y], [x, y + sign * r]];
  const tip = [[to[0] + 5, to[1]], [to[0], to[1] - 3.5], [to[0], to[1] + 3.5]];
  return [
    ["path", { class: `force ${name}`, d: `M${from.map((c) => c.toFixed(2)).join(" ")}A${r} ${r} 0 1 ${sign > 0 ? 0 : 1} ${to.map((c) => c.toFixed(2)).join(" ")}` }],
    ["polygon", { class: `head ${name}`, points: tip.map((p) => p.map((c) => c.toFixed(2)).join(",")).join(" ") }],
  ];
}

function fillForces(table, { forces, mass, centre }) {
  const sum = resultant(forces, centre);
  const head = document.createElement("thead");
  head.append(row(...["acting on it", "Fx", "Fy", "Fz", "Mx", "My", "Mz"].map((name) => cell("th", name, { scope: "col" }))));
  const body = document.createElement("tbody");
  const line = (name, force, moment, key) => row(
    cell("th", name, { scope: "row", class: key }),
    ...[...force, ...moment].map((value, i) => numberCell(value, { "data-force": name, "data-index": i })),
  );
  const noise = 1e-12 * largest(forces.map(({ force, moment }) => [...force, ...moment]));
  const clean = (vector) => vector.map((x) => (Math.abs(x) < noise ? 0 : x));
  for (const one of forces) body.append(line(one.name, clean(one.force), clean(one.moment), one.class));
  body.append(line("sum", clean(sum.force), clean(sum.moment), "part-total"));
  table.replaceChildren(table.caption, head, body);
  return { mass, acceleration: sum.force.map((f) => f / mass) };
}
