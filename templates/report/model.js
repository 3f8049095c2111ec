// The model's own expressions at the values of the sliders: numbers, names, [operator, operand, ...].

const OPERATORS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "**": Math.pow, neg: (a) => -a,
  sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos,
  atan: Math.atan, atan2: Math.atan2, exp: Math.exp, log: Math.log, abs: Math.abs,
  tanh: Math.tanh, max: Math.max, min: Math.min,
};

function evaluated(node, values) {
  if (typeof node === "number") return node;
  if (typeof node === "string") return values.get(node);
  const [operator, ...operands] = node;
  return OPERATORS[operator](...operands.map((operand) => evaluated(operand, values)));
}

// Links, points, loads and gravity in numbers; `parameters` are those with a slider, in order.
function modelAt(facts, parameters) {
  const values = new Map(Object.entries(facts.fixed));
  facts.parameters.forEach((item, i) => values.set(item.name, parameters[i]));
  for (const [name, expression] of facts.derived) values.set(name, evaluated(expression, values));
  const all = (entries) => entries.map((entry) => evaluated(entry, values));
  const placed = (points) => points.map((point) => ({ ...point, at: all(point.at) }));
  return {
    links: facts.links.map((link) => ({ ...link, mass: evaluated(link.mass, values), com: all(link.com), slides: link.slides && unit(all(link.slides)) })),
    bodies: placed(facts.bodies),
    loads: placed(facts.loads),
    points: placed(facts.points),
    loops: facts.loops?.map((loop) => ({ ...loop, ends: placed(loop.ends) })),
    springs: facts.springs?.map((spring) => ({ ...spring, ends: placed(spring.ends) })),
    wheels: facts.wheels?.map((wheel) => ({
      ...wheel, at: all(wheel.at), axis: unit(all(wheel.axis)),
      radius: evaluated(wheel.radius, values), width: evaluated(wheel.width, values),
    })),
    gravity: all(facts.gravity),
  };
}
