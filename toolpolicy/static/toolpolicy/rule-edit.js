// The page of a rule: chips, rows that can be added, and the preview while somebody types.
// Without it the same page works by its buttons.
import { enhance } from "./chips.js";
import { words } from "./words.js";

const PAUSE = 250;
const body = document.getElementById("rule-body");
const live = document.getElementById("rule-live");
const form = body.closest("form");
let waiting = 0;
let following = 0;
const running = {};

async function ask(part, name, value) {
  running[part]?.abort();
  running[part] = new AbortController();
  const data = new FormData(form);
  data.set("_part", part);
  data.set(name, value);
  try {
    const answer = await fetch(form.action || location.href, { method: "POST", body: data, signal: running[part].signal });
    return answer.ok && !answer.redirected ? await answer.text() : null;
  } catch {
    return null; // a newer question, or the server is gone: the old answer stays
  }
}

async function preview() {
  const page = await ask("live", "_preview", "1");
  if (page === null) return;
  const open = [...live.querySelectorAll("details")].map((one) => one.open);
  live.innerHTML = page;
  live.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? false; });
  const said = document.getElementById("rule-said");
  if (said && asJson() && document.activeElement !== asJson()) {
    asJson().value = said.content.textContent;
    wrong();
  }
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(preview, PAUSE);
}

async function change(button) {
  clearTimeout(waiting);
  const page = await ask("body", button.name, button.value);
  if (page === null) return;
  body.innerHTML = page;
  dress();
  (body.querySelector("[role=alert]") ?? body.querySelector(`[name=_show][value=${button.value}]`)).focus();
  soon();
}

// --- the JSON below the fields

const asJson = () => document.getElementById("id_as_json");

// What was typed last is what is sent: the JSON, until the fields say the same, or the fields.
function sends(json) {
  form.elements.shown_as.value = json ? "json" : "form";
  asJson().name = json ? "json" : "";
}

const wrong = (...faults) => document.querySelector("#rule-json [role=status]").replaceChildren(...faults);

async function follow() {
  const page = await ask("body", "_show", "form");
  if (page === null) return;
  const fresh = document.createElement("template");
  fresh.innerHTML = page;
  const fields = fresh.content.getElementById("rule-fields");
  wrong(...fresh.content.querySelectorAll("#id_json_error"));
  if (!fields) return;
  document.getElementById("rule-fields").replaceWith(fields);
  dress(fields);
  sends(false);
}

// --- rows: conditions on the context, and approval options

function renumber(row, number) {
  for (const one of row.querySelectorAll("[name], [id], [for]")) {
    for (const name of ["name", "id", "for"]) {
      const text = one.getAttribute(name);
      if (text) one.setAttribute(name, text.replace(/__\d+__/, `__${number}__`));
    }
  }
}

function removable(row, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tp-btn is-quiet";
  button.textContent = words.removeIt;
  button.setAttribute("aria-label", name);
  button.addEventListener("click", () => {
    const next = row.nextElementSibling ?? row.previousElementSibling ?? row.parentElement.nextElementSibling;
    row.remove();
    next.dispatchEvent(new Event("input", { bubbles: true }));
    (next.querySelector("input:not([type=hidden])") ?? next).focus();
  });
  row.append(button);
}

function rows(box) {
  const blank = box.lastElementChild.cloneNode(true);
  for (const row of box.children) removable(row, box.dataset.less);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tp-btn is-quiet";
  button.textContent = box.dataset.rows;
  button.addEventListener("click", () => {
    const row = blank.cloneNode(true);
    for (const one of row.querySelectorAll("input")) one.value = "";
    box.append(row);
    [...box.children].forEach(renumber);
    removable(row, box.dataset.less);
    row.querySelectorAll("[data-chips]").forEach(enhance);
    row.querySelector("input").focus();
  });
  box.after(button);
}

function dress(place = body) {
  place.querySelectorAll("[data-rows]").forEach(rows);
  place.querySelectorAll("[data-chips]").forEach(enhance);
  asJson()?.removeAttribute("readonly");
}

dress();
form.addEventListener("input", (event) => {
  if (asJson()) sends(event.target === asJson());
  clearTimeout(following);
  running.body?.abort();
  if (event.target === asJson()) following = setTimeout(follow, PAUSE);
  soon();
});
form.addEventListener("submit", () => clearTimeout(waiting));
form.addEventListener("click", (event) => {
  const button = event.target.closest("button[name]");
  if (button?.name === "_show") {
    event.preventDefault();
    change(button);
  } else if (button?.name === "_preview") {
    event.preventDefault();
    preview();
  }
});
