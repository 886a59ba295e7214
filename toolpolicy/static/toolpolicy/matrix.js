// Arrows move between the cells of a matrix. Without this module its cells are plain links.
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity] };

for (const table of document.querySelectorAll(".tp-matrix")) {
  const rows = [...table.querySelectorAll("tr:has(td)")];
  // One stop for the tab key in place of thousands.
  for (const link of table.querySelectorAll("td a")) link.tabIndex = -1;
  const cell = (row, column) => rows[row].cells[column]?.querySelector("a");
  const start = rows.length && cell(0, 1);
  if (start) start.tabIndex = 0;

  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const td = event.target.closest("td");
    if (!step || !td || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const row = rows.indexOf(td.parentElement) + step[0];
    const last = td.parentElement.cells.length - 1;
    const column = Math.max(1, Math.min(last, td.cellIndex + step[1]));
    if (row < 0 || row >= rows.length) return;
    event.target.tabIndex = -1;
    const next = cell(row, column);
    next.tabIndex = 0;
    next.focus();
  });
}
