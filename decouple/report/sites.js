"use strict";

/* The list of intra-file sites. */
const Sites = (() => {
  function made(name, className, text) {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function code(site) {
    const block = made("pre");
    site.code.split("\n").forEach((line, i) => {
      const number = site.start + i;
      const inside = number >= site.line && number <= site.last;
      const row = made(inside ? "mark" : "span");
      row.append(made("span", "number", `${String(number).padStart(5)}  `), `${line}\n`);
      block.append(row);
    });
    return block;
  }

  /** One site, for the list. */
  function entry(site) {
    const node = made("div", "site");
    node.append(made("div", "place", `${site.path}:${site.line}`));
    const facts = [site.rule, site.module, site.symbol && `in ${site.symbol}`, site.detail].filter(Boolean);
    node.append(made("div", "facts", facts.join(" · ")), code(site));
    return node;
  }

  return { entry };
})();
