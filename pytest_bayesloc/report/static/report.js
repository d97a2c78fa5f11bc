"use strict";
// A link to a line or an inspection opens whatever folds it away.
const reveal = () => {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* a bare % in a file name */ }
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let node = target; node; node = node.parentElement) {
    if (node.localName === "details") node.open = true;
  }
  target.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", reveal);
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[data-unfold]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const folds = [...button.closest("section").querySelectorAll("details")];
      const open = folds.some((fold) => !fold.open);
      for (const fold of folds) fold.open = open;
      button.textContent = open ? "Fold all" : "Unfold all";
    });
  }
  reveal();
});
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
