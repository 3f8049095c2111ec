// The shapes of the links: shaded triangles on a canvas behind the stick figure, the farthest first.

const SHADES = 16;

class Solids {
  // `shapes` have a link, a colour, and how many of the vertices and faces (three numbers each) are theirs.
  constructor(figure, shapes, vertices, faces) {
    let [vertex, face] = [0, 0];
    this.figure = figure;
    this.shapes = shapes.map((shape) => {
      const made = {
        link: shape.link,
        opacity: shape.opacity,
        shades: Array.from({ length: SHADES + 1 }, (_, k) => `rgb(${shape.colour.map((x) => Math.round(x * (0.45 + (0.55 * k) / SHADES))).join(" ")} / ${shape.opacity})`),
        vertices: vertices.subarray(3 * vertex, 3 * (vertex + shape.vertices)),
        faces: faces.subarray(3 * face, 3 * (face + shape.triangles)),
        seen: new Float32Array(3 * shape.vertices),
      };
      [vertex, face] = [vertex + shape.vertices, face + shape.triangles];
      return made;
    });
    const moving = this.shapes.filter(({ link }) => link >= 0);
    this.radius = Math.max(0, ...moving.map(({ vertices: all }) => all.reduce((most, x) => Math.max(most, Math.abs(x)), 0)));
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    figure.svg.before(this.canvas);
    const stage = figure.svg.closest(".stage");
    stage.classList.add("solid");
    stage.classList.toggle("clad", shapes.some(({ opacity }) => opacity === 1)); // in the shapes of its links
    figure.watchers.push(() => this.draw());
  }

  // The least and largest coordinates of every shape that does not move, in base axes.
  atRest() {
    const ends = (all, end) => [0, 1, 2].map((k) => all.filter((_, i) => i % 3 === k).reduce((x, y) => end(x, y)));
    return this.shapes.filter(({ link }) => link < 0).map(({ vertices: all }) => [ends(all, Math.min), ends(all, Math.max)]);
  }

  draw() {
    const { figure, canvas } = this;
    const box = figure.svg.getBoundingClientRect();
    const dots = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [box.width * dots, box.height * dots].map(Math.round);
    [canvas.style.width, canvas.style.height] = [`${box.width}px`, `${box.height}px`];
    const scale = canvas.width / 400;
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, canvas.width / 2, canvas.height / 2);
    pen.lineWidth = 0.3;
    pen.lineJoin = "round";
    const found = [];
    for (const shape of this.shapes) this.place(shape, found);
    found.sort((a, b) => a.depth - b.depth);
    for (const { shape, i, shade } of found) {
      const { faces, seen } = shape;
      const [a, b, c] = [3 * faces[i], 3 * faces[i + 1], 3 * faces[i + 2]];
      pen.fillStyle = pen.strokeStyle = shape.shades[shade];
      pen.beginPath();
      pen.moveTo(seen[a], seen[a + 1]);
      pen.lineTo(seen[b], seen[b + 1]);
      pen.lineTo(seen[c], seen[c + 1]);
      pen.closePath();
      pen.fill();
      if (shape.opacity === 1) pen.stroke(); // no gaps between neighbours
    }
  }

  // Vertices to the right, down, and towards the eye; then the triangles with depth and shade.
  place(shape, found) {
    const { figure } = this;
    const size = (135 / figure.extent) * figure.zoom;
    const axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => figure.seen(axis));
    const right = axes.map((axis) => size * axis[0]);
    const down = axes.map((axis) => size * axis[1]);
    const towards = figure.towards().map((x) => size * x);
    const { vertices, faces, seen } = shape;
    const pose = shape.link < 0 ? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0] : figure.poses[shape.link];
    const at = (way, k) => way[0] * pose[k] + way[1] * pose[k + 4] + way[2] * pose[k + 8];
    const rows = [right, down, towards].map((way) => [at(way, 0), at(way, 1), at(way, 2), at(way, 3) - dot(way, figure.centre)]);
    for (let v = 0; v < vertices.length; v += 3) {
      for (let k = 0; k < 3; k += 1) {
        const row = rows[k];
        seen[v + k] = row[0] * vertices[v] + row[1] * vertices[v + 1] + row[2] * vertices[v + 2] + row[3];
      }
    }
    for (let i = 0; i < faces.length; i += 3) {
      const [a, b, c] = [3 * faces[i], 3 * faces[i + 1], 3 * faces[i + 2]];
      const u = [0, 1, 2].map((k) => seen[b + k] - seen[a + k]);
      const v = [0, 1, 2].map((k) => seen[c + k] - seen[a + k]);
      const n = cross(u, v);
      const light = Math.abs(n[2] - 0.5 * n[1] - 0.3 * n[0]) / (1.16 * Math.hypot(...n) || 1);
      found.push({ shape, i, depth: seen[a + 2] + seen[b + 2] + seen[c + 2], shade: Math.round(SHADES * Math.min(1, light)) });
    }
  }
}
