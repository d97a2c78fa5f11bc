"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Long parts come compressed, and are unpacked when they are opened. They hold markup of the page's
// own template, escaped as the rest of it.
const unpack = async (holder) => {
  const packed = holder.dataset.packed;
  if (packed === undefined) return;
  delete holder.dataset.packed;
  if (typeof DecompressionStream === "undefined") {
    holder.textContent = "This browser can't unpack this part: open the report in a newer one.";
    return;
  }
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  holder.innerHTML = await new Response(stream).text();
  holder.removeAttribute("aria-busy");
  prepare(holder);
};

// A link to a line or an inspection opens whatever folds it away.
const reveal = async () => {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* a bare % in a file name */ }
  if (!id) return;
  for (const holder of all("[data-packed]")) {
    if (holder.dataset.holds && id.startsWith(holder.dataset.holds)) await unpack(holder);
  }
  const target = document.getElementById(id);
  if (!target) return;
  for (let node = target; node; node = node.parentElement) {
    if (node.localName === "details") node.open = true;
  }
  target.scrollIntoView({ block: "center" });
  const focus = target.localName === "details" ? target.querySelector("summary") : target;
  if (!focus.matches("a, summary, [tabindex]")) focus.tabIndex = -1;
  focus.focus({ preventScroll: true });
};

// -- rankings: filtered, sorted, the first ten at first

const N_FIRST = 10;
const filtered = (form) => {
  const table = document.getElementById(form.dataset.filters);
  const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = form.elements.kind.value;
  const tests = form.elements.tests.checked;
  const rows = [...table.tBodies[0].rows];
  const every = form.dataset.every === "yes" || words.length > 0 || kind !== "" || !tests;
  let fitting = 0;
  for (const row of rows) {
    const place = row.dataset.place.toLowerCase();
    const fits = words.every((word) => place.includes(word))
      && (kind === "" || row.dataset.kinds.split(" ").includes(kind))
      && (tests || !("test" in row.dataset));
    if (fits) fitting += 1;
    row.hidden = !fits || (!every && fitting > N_FIRST);
  }
  const shown = rows.filter((row) => !row.hidden).length;
  form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
  form.querySelector("[data-all]").hidden = every || rows.length <= N_FIRST;
};
const sorted = (header) => {
  const table = header.closest("table");
  const key = header.dataset.sort;
  const first = key === "rank" || key === "place" ? "ascending" : "descending";
  const other = first === "ascending" ? "descending" : "ascending";
  const way = header.getAttribute("aria-sort") === first ? other : first;
  for (const th of all("th[aria-sort]", table)) th.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", way);
  const sign = way === "ascending" ? 1 : -1;
  const value = (row) => (key === "place" ? row.dataset.place : Number.parseFloat(row.dataset[key]) || 0);
  const compare = (a, b) => {
    const [x, y] = [value(a), value(b)];
    const order = key === "place" ? x.localeCompare(y) : x - y;
    return sign * order || a.dataset.rank - b.dataset.rank;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  const form = document.querySelector(`form[data-filters="${table.id}"]`);
  if (form) filtered(form);
};
const prepare = (root) => {
  for (const form of all("form[data-filters]", root)) {
    form.hidden = false;
    form.addEventListener("input", () => filtered(form));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.querySelector("[data-all]").addEventListener("click", () => {
      form.dataset.every = "yes";
      filtered(form);
    });
    filtered(form);
  }
  for (const header of all("th[data-sort]", root)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sorted(header));
    header.append(button);
  }
  for (const holder of all("[data-copied]", root)) offered(holder);
  for (const button of all("button[data-unfold]", root)) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const folds = all("details", button.closest("h3").nextElementSibling);
      const open = folds.some((fold) => !fold.open);
      for (const fold of folds) fold.open = open;
      button.textContent = open ? "Fold all" : "Unfold all";
    });
  }
};

// -- what is copied: commands, changes, and the prompt

const offered = (holder) => {
  const button = document.createElement("button");
  button.type = "button";
  const isBlock = holder.localName === "pre";
  button.className = isBlock ? "copy above" : "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = all("span", holder).map((line) => line.textContent);
    try {
      await navigator.clipboard.writeText(holder.dataset.copied || lines.join("\n"));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(holder);
      button.textContent = "Selected";
    }
  });
  if (isBlock) holder.before(button);
  else holder.after(button);
};
const copy = async (button) => {
  const text = document.getElementById(button.dataset.copy);
  const said = button.parentElement.querySelector("output");
  try {
    await navigator.clipboard.writeText(text.textContent);
    said.textContent = "Copied.";
  } catch {
    text.closest("details").open = true;
    getSelection().selectAllChildren(text);
    said.textContent = "This page may not use the clipboard: the text is selected, copy it by hand.";
  }
};

// -- keys

const step = (by) => {
  const stops = all("[data-stop]").filter((stop) => stop.checkVisibility?.() ?? true);
  if (!stops.length) return;
  const now = stops.findIndex((stop) => stop === document.activeElement);
  const next = stops[Math.min(stops.length - 1, Math.max(0, now < 0 && by < 0 ? 0 : now + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = document.getElementById("keys");
  if (keys.open) return;
  const filter = all('form[data-filters] input[type="search"]').find((input) => input.checkVisibility?.() ?? true);
  const button = document.querySelector("button[data-copy]");
  const deeds = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => filter?.focus(),
    c: () => button?.click(),
    "?": () => keys.showModal(),
  };
  if (!(event.key in deeds)) return;
  event.preventDefault();
  deeds[event.key]();
});

addEventListener("hashchange", reveal);
addEventListener("DOMContentLoaded", () => {
  prepare(document);
  document.addEventListener("toggle", (event) => {
    const fold = event.target;
    if (!fold.open) return;
    for (const holder of all("[data-packed]", fold)) if (holder.closest("details") === fold) unpack(holder);
  }, true);
  for (const holder of all("[data-packed]")) {
    if (!holder.closest("details:not([open])")) unpack(holder);
  }
  for (const button of all("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
  const help = document.querySelector("button[data-help]");
  help.hidden = false;
  help.addEventListener("click", () => document.getElementById("keys").showModal());
  reveal();
});
addEventListener("beforeprint", () => {
  for (const fold of all("details")) fold.open = true;
});
