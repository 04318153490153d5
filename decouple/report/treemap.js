"use strict";

/* Squarified treemaps: Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000). */
const Treemap = (() => {
  /** The worst ratio of sides in a row of areas along a side of that length. */
  function worst(areas, side) {
    const sum = areas.reduce((a, b) => a + b, 0);
    const high = Math.max(...areas), low = Math.min(...areas);
    return Math.max((side * side * high) / (sum * sum), (sum * sum) / (side * side * low));
  }

  /**
   * Lays items out in a box.
   * @param items objects with `size`, which is more than 0.
   * @param box {x, y, w, h}.
   * @returns for each item {item, x, y, w, h}.
   */
  function layout(items, box) {
    const total = items.reduce((sum, item) => sum + item.size, 0);
    const scale = total > 0 ? (box.w * box.h) / total : 0;
    const waiting = [...items].sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));
    const placed = [];
    let { x, y, w, h } = box;
    while (waiting.length > 0) {
      const side = Math.max(Math.min(w, h), 1e-9);
      const row = [waiting.shift()];
      const areas = [row[0].size * scale];
      while (waiting.length > 0) {
        const next = waiting[0].size * scale;
        if (worst([...areas, next], side) > worst(areas, side)) break;
        areas.push(next);
        row.push(waiting.shift());
      }
      const thickness = areas.reduce((a, b) => a + b, 0) / side;
      let along = 0;
      row.forEach((item, i) => {
        const length = areas[i] / Math.max(thickness, 1e-9);
        placed.push(w >= h
          ? { item, x, y: y + along, w: thickness, h: length }
          : { item, x: x + along, y, w: length, h: thickness });
        along += length;
      });
      if (w >= h) { x += thickness; w -= thickness; } else { y += thickness; h -= thickness; }
    }
    return placed;
  }

  const NAME = "http://www.w3.org/2000/svg";

  function element(name, attributes, parent) {
    const made = document.createElementNS(NAME, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }

  /**
   * Draws blocks, grouped by module.
   * @param blocks {path, module, kind, rule, lines}.
   * @param colour function from a block to a colour.
   * @param onModule, onFile called with the name that was clicked.
   */
  function draw(svg, blocks, colour, onModule, onFile) {
    svg.replaceChildren();
    const width = svg.clientWidth, height = svg.clientHeight;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const modules = new Map();
    for (const block of blocks) {
      if (!modules.has(block.module)) modules.set(block.module, []);
      modules.get(block.module).push({ name: block.path, size: block.lines, block });
    }
    const groups = [...modules].map(([name, items]) =>
      ({ name, items, size: items.reduce((sum, item) => sum + item.size, 0) }));
    const head = 16;
    for (const group of layout(groups, { x: 0, y: 0, w: width, h: height })) {
      const inner = { x: group.x + 1, y: group.y + head, w: Math.max(group.w - 2, 0), h: Math.max(group.h - head - 1, 0) };
      for (const place of layout(group.item.items, inner)) {
        if (place.w < 0.4 || place.h < 0.4) continue;
        const block = place.item.block;
        const rect = element("rect", {
          x: place.x, y: place.y, width: place.w, height: place.h,
          fill: colour(block), class: "file", "data-path": block.path,
        }, svg);
        element("title", {}, rect).textContent =
          `${block.path}\n${block.lines} lines, ${block.kind}, ${block.rule}`;
        rect.addEventListener("click", () => onFile(block.path));
        if (place.w > 60 && place.h > 14) {
          const text = element("text", { x: place.x + 3, y: place.y + 12 }, svg);
          text.textContent = block.path.split("/").pop().slice(0, Math.floor(place.w / 6.5));
        }
      }
      element("rect", { x: group.x, y: group.y, width: group.w, height: group.h, class: "module" }, svg)
        .style.pointerEvents = "none";
      if (group.w > 30) {
        const text = element("text", { x: group.x + 3, y: group.y + 12, class: "module", "data-module": group.item.name }, svg);
        text.textContent = `${group.item.name} (${group.item.size})`.slice(0, Math.floor(group.w / 6.5));
        text.addEventListener("click", () => onModule(group.item.name));
      }
    }
  }

  return { draw, element, layout };
})();
