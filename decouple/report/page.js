"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const STEP = 100;
  const KIND_COLOURS = { "inter-file": "#7fb2e5", "intra-file": "#f0a35e" };
  let shown = STEP;

  const rules = [...new Set([...data.blocks, ...data.sites].map((entry) => entry.rule))].sort();
  const ruleColour = new Map(rules.map((rule, i) => [rule, `hsl(${(i * 137.5) % 360} 60% 70%)`]));
  const modules = [...new Set([...data.blocks, ...data.sites].map((entry) => entry.module))].sort();

  get("title").textContent = `${data.device.toUpperCase()} code of PyTorch ${data.version}`;
  get("summary").textContent =
    `${data.files} files scanned; ${data.units} translation units; ` +
    Object.entries(data.findings).map(([kind, count]) => `${count} ${kind}`).join(", ") + " findings" +
    (data.gaps.length ? `; could not be read: ${data.gaps.length} ${data.gaps.length === 1 ? "place" : "places"}` : "");
  get("gaps-section").hidden = data.gaps.length === 0;
  get("gaps").append(...data.gaps.map((gap) => {
    const node = document.createElement("li");
    node.textContent = gap;
    return node;
  }));
  for (const [id, values] of [["module", modules], ["rule", rules]]) {
    for (const value of values) get(id).append(new Option(value, value));
  }

  function chosen() {
    return {
      text: get("search").value.trim().toLowerCase(),
      module: get("module").value, rule: get("rule").value, kind: get("kind").value,
    };
  }

  function matches(entry, filter, kind, texts) {
    return (!filter.module || entry.module === filter.module) &&
      (!filter.rule || entry.rule === filter.rule) &&
      (!filter.kind || kind === filter.kind) &&
      (!filter.text || texts.some((text) => text.toLowerCase().includes(filter.text)));
  }

  function drawLegend(byRule) {
    const entries = byRule ? [...ruleColour] : Object.entries(KIND_COLOURS);
    get("legend").replaceChildren(...entries.map(([name, colour]) => {
      const node = document.createElement("span");
      const box = document.createElement("i");
      box.style.background = colour;
      node.append(box, name);
      return node;
    }));
  }

  function showArrow(arrow) {
    const list = document.createElement("ul");
    for (const example of arrow.examples) {
      const item = document.createElement("li");
      item.textContent = example;
      list.append(item);
    }
    const head = document.createElement("p");
    head.textContent = `${arrow.from} to ${arrow.to}: ${arrow.count} includes${arrow.up ? ", pointing up" : ""}`;
    if (arrow.up) head.className = "up";
    get("arrow-details").replaceChildren(head, list);
  }

  function choose(id, value) {
    get(id).value = value;
    shown = STEP;
    draw();
  }

  function drawSites(filter) {
    const found = data.sites.filter((site) =>
      matches(site, filter, "intra-file", [site.path, site.code, site.symbol, site.detail]));
    get("sites-count").textContent =
      `${found.length} of ${data.sites.length} sites` + (found.length > shown ? `, the first ${shown} shown` : "");
    get("sites").replaceChildren(...found.slice(0, shown).map(Sites.entry));
    get("more").hidden = found.length <= shown;
  }

  function draw() {
    const filter = chosen();
    const byRule = get("colour").value === "rule";
    const blocks = data.blocks.filter((block) => matches(block, filter, block.kind, [block.path]));
    Treemap.draw(get("treemap"), blocks,
      (block) => (byRule ? ruleColour.get(block.rule) : KIND_COLOURS[block.kind]),
      (module) => choose("module", module),
      (path) => choose("search", path));
    drawLegend(byRule);
    Graph.draw(get("graph"), data.arrows, data.layers, showArrow, (module) => choose("module", module));
    drawSites(filter);
  }

  let waiting = 0;
  get("filters").addEventListener("input", () => {
    clearTimeout(waiting);
    shown = STEP;
    waiting = setTimeout(draw, 80);
  });
  get("filters").addEventListener("reset", () => setTimeout(() => { shown = STEP; draw(); }));
  get("filters").addEventListener("submit", (event) => event.preventDefault());
  get("more").addEventListener("click", () => { shown += STEP; drawSites(chosen()); });
  addEventListener("resize", draw);
  draw();
})();
