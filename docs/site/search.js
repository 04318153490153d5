// The search box: looks for all words in the sections of search_index.js. SECTIONS has a row for each section:
// address, page, heading, text, and whether it is a page rather than a list.
const up = document.documentElement.dataset.up;
const box = document.getElementById("search");
const list = document.getElementById("results");
const menu = document.getElementById("menu");
const pages = document.getElementById("pages");

const MOST = 25;
const AROUND = 70;

function find(words) {
  const found = [];
  for (const [address, page, heading, text, isPage] of SECTIONS) {
    const parts = [heading, page, text].map((part) => part.toLowerCase());
    let score = isPage ? 3 : 0;
    for (const word of words) {
      const [inHeading, inPage, inText] = parts.map((part) => part.includes(word));
      if (!inHeading && !inPage && !inText) {
        score = -1;
        break;
      }
      score += 8 * inHeading + 4 * inPage + inText;
    }
    if (score >= 0) {
      found.push({ address, page, heading, text, score });
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, MOST);
}

function excerpt(text, words) {
  const low = text.toLowerCase();
  const first = Math.max(0, words.map((word) => low.indexOf(word)).find((at) => at >= 0) ?? 0);
  const start = Math.max(0, first - AROUND);
  const end = first + 2 * AROUND;
  return (start ? "…" : "") + text.slice(start, end) + (end < text.length ? "…" : "");
}

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? find(words) : [];
  list.replaceChildren();
  list.hidden = !words.length;
  for (const one of found) {
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.href = up + one.address;
    link.textContent = one.heading === one.page ? one.page : `${one.page}: ${one.heading}`;
    const text = document.createElement("span");
    text.textContent = excerpt(one.text, words);
    row.append(link, text);
    list.append(row);
  }
  if (words.length && !found.length) {
    const row = document.createElement("li");
    row.textContent = "No page has all of these words.";
    list.append(row);
  }
}

box.addEventListener("input", show);
box.addEventListener("focus", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === "Escape") {
    list.hidden = true;
  } else if (event.key === "Enter" && document.activeElement === box) {
    list.querySelector("a")?.click();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("header") || event.target.closest("#results a")) {
    list.hidden = true;
  }
});
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", String(pages.classList.toggle("open")));
});
const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  box.value = asked;
  show();
}
