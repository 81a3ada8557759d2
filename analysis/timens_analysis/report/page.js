// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables sort by a click on a heading: first up, then down.
"use strict";
for (const head of document.querySelectorAll("thead th")) {
  head.querySelector("button").addEventListener("click", () => sort(head));
}
function key(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.sort ?? cell.textContent.trim();
  const number = Number(text.replace("−", "-"));
  return text !== "" && Number.isFinite(number) ? number : text;
}
function sort(head) {
  const table = head.closest("table");
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [key(row, head.cellIndex), row]);
  // Numbers before words, so that "–" (not known) ends up last.
  rows.sort(([a], [b]) =>
    typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  if (descending) rows.reverse();
  table.tBodies[0].append(...rows.map(([, row]) => row));
}
