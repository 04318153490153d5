"use strict";

/* The modules in their layers, and the includes between them. */
const Graph = (() => {
  const NODE = { w: 150, h: 30 };

  function layerOf(module, layers) {
    return Object.keys(layers)
      .filter((layer) => `${module}/`.startsWith(`${layer}/`))
      .sort((a, b) => b.length - a.length)[0];
  }

  /** Middle points of the modules: the lowest layer is at the bottom. */
  function positions(modules, layers, width, height) {
    const rows = new Map();
    for (const module of modules) {
      const rank = layers[layerOf(module, layers)] ?? 0;
      if (!rows.has(rank)) rows.set(rank, []);
      rows.get(rank).push(module);
    }
    const ranks = [...rows.keys()].sort((a, b) => a - b);
    const places = new Map();
    ranks.forEach((rank, i) => {
      const row = rows.get(rank).sort();
      row.forEach((module, j) => places.set(module, {
        x: (width * (j + 1)) / (row.length + 1),
        y: height - (height * (i + 0.5)) / ranks.length,
      }));
    });
    return places;
  }

  /** Draws the graph; `onArrow` and `onModule` are called with what was clicked. */
  function draw(svg, arrows, layers, onArrow, onModule) {
    svg.replaceChildren();
    const width = svg.clientWidth, height = svg.clientHeight;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const definitions = Treemap.element("defs", {}, svg);
    for (const [id, colour] of [["plain", "#579"], ["red", "#d11"]]) {
      const marker = Treemap.element("marker", {
        id: `head-${id}`, viewBox: "0 0 10 10", refX: 9, refY: 5,
        markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto",
      }, definitions);
      Treemap.element("path", { d: "M0 0L10 5L0 10z", style: `fill:${colour};stroke:none` }, marker);
    }
    const modules = [...new Set(arrows.flatMap((arrow) => [arrow.from, arrow.to]))];
    const places = positions(modules, layers, width, height);
    for (const arrow of [...arrows].sort((a, b) => a.up - b.up)) {
      const from = places.get(arrow.from), to = places.get(arrow.to);
      const side = to.y > from.y ? 1 : to.y < from.y ? -1 : 0;
      const start = { x: from.x, y: from.y + (side * NODE.h) / 2 };
      const end = { x: to.x, y: to.y - (side * NODE.h) / 2 };
      const bend = side === 0 ? -60 : 0;
      const middle = { x: (start.x + end.x) / 2 + (arrow.up ? 25 : 0), y: (start.y + end.y) / 2 + bend };
      if (side === 0) { start.y -= NODE.h / 2; end.y -= NODE.h / 2; }
      const path = Treemap.element("path", {
        d: `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`,
        class: arrow.up ? "arrow up" : "arrow",
        "stroke-width": 1 + Math.log10(arrow.count) * 1.2,
        "marker-end": `url(#head-${arrow.up ? "red" : "plain"})`,
        "data-from": arrow.from, "data-to": arrow.to,
      }, svg);
      Treemap.element("title", {}, path).textContent =
        `${arrow.from} to ${arrow.to}: ${arrow.count} includes`;
      path.addEventListener("click", () => onArrow(arrow));
    }
    for (const [module, place] of places) {
      const node = Treemap.element("g", { class: "node", "data-module": module }, svg);
      Treemap.element("rect", {
        x: place.x - NODE.w / 2, y: place.y - NODE.h / 2, width: NODE.w, height: NODE.h, rx: 4,
      }, node);
      Treemap.element("text", { x: place.x, y: place.y + 5 }, node).textContent = module;
      node.addEventListener("click", () => onModule(module));
    }
  }

  return { draw };
})();
