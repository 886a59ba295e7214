// Single keys for who works without a mouse: off while somebody types, and to be switched off for good.
const KEPT = "toolpolicy.keys";
const TYPING = "input, select, textarea, [contenteditable]";
const ROWS = "#result_list tbody tr, .tp-table tbody tr, .tp-rule, .tp-layer, .tp-list > li";
const SEARCHES = ["#searchbar", "#content form[method=get] input:not([type=hidden])", "#nav-filter"];
const help = document.querySelector("#keys");
const box = document.querySelector("#keys-on");

const row = () => document.activeElement?.closest(ROWS);
const places = () => [...document.querySelectorAll("#content :is(" + ROWS + ")")]
  .filter((one) => one.checkVisibility() && one.querySelector("a[href]"));

function step(by) {
  const all = places();
  const now = all.indexOf(row());
  const next = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by];
  next?.querySelector("a[href]").focus();
}

// The nearest of what a key leads to: in the row, on the page, in the navigation.
function follow(...wanted) {
  for (const place of [row(), document.querySelector("#content"), document.body]) {
    for (const one of place?.querySelectorAll(wanted.join()) ?? []) {
      if (one.checkVisibility() || place === document.body) return one.click();
    }
  }
}

const KEYS = {
  "/": () => SEARCHES.map((one) => document.querySelector(one)).find(Boolean)?.focus(),
  j: () => step(1),
  k: () => step(-1),
  e: () => (row() ? row().querySelector("[data-key=e], a[href]").click() : follow("#content [data-key=e]")),
  t: () => follow("[data-key=t]", "a[href*='/simulator/']"),
  "?": () => {
    help.open = true;
    help.querySelector("summary").focus();
  },
};

if (help) {
  help.hidden = false;
  box.checked = localStorage.getItem(KEPT) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    const act = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
    if (!act || !box.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(TYPING) || event.defaultPrevented) return;
    event.preventDefault();
    act();
  });
}
