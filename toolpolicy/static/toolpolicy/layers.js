// Moves layers, and rules of one, without leaving the page: by the buttons, which work alone too, and by dragging.
const form = document.querySelector("#changelist-form, #rules-form");
const said = document.querySelector("#moved");
const rows = (list) => [...list.children];

function ready() {
  for (const grip of form.querySelectorAll(".tp-grip")) grip.hidden = false;
}

// Sends the move, shows the stack as it then is, says what came of it and puts the focus back.
async function move(address, body, focus) {
  const answer = await fetch(address, { method: "POST", body });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(form.id);
  if (!answer.ok || !fresh) return location.reload();
  form.replaceChildren(...fresh.childNodes);
  ready();
  said.hidden = false;
  said.textContent = [...page.querySelectorAll(".messagelist li")].map((one) => one.textContent.trim()).join(" ");
  document.getElementById(focus)?.focus();
}

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!["up", "down"].includes(button.name)) return;
  event.preventDefault();
  if (button.getAttribute("aria-disabled")) return;
  move(button.formAction, new FormData(form, button), button.id);
});

ready();

let held = null;
let before = 0;

form.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest(".tp-grip");
  if (grip) grip.closest("li").draggable = true;
});
form.addEventListener("dragstart", (event) => {
  held = event.target.closest("[data-move]");
  before = rows(held.parentElement).indexOf(held);
  held.classList.add("is-moving");
  event.dataTransfer.effectAllowed = "move";
});
form.addEventListener("dragover", (event) => {
  const over = event.target.closest("[data-move]");
  if (!held || over?.parentElement !== held.parentElement) return;
  event.preventDefault();
  const box = over.getBoundingClientRect();
  if (over !== held) over[event.clientY < box.y + box.height / 2 ? "before" : "after"](held);
});
form.addEventListener("drop", (event) => event.preventDefault());
form.addEventListener("dragend", (event) => {
  const list = rows(held.parentElement);
  const place = list.indexOf(held);
  held.classList.remove("is-moving");
  held.draggable = false;
  const dropped = held;
  held = null;
  if (event.dataTransfer.dropEffect === "none") return location.reload();
  if (place === before) return;
  const body = new FormData(form);
  body.append("place", place + Number(list[0].parentElement.dataset.first ?? 0));
  if (dropped.dataset.key) body.append("rule", dropped.dataset.key);
  move(dropped.dataset.move, body, dropped.querySelector("[id$=-up]").id);
});
