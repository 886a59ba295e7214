// Keeps what is ticked as soon as it is ticked, so that no search and no other page loses it.
const form = document.querySelector("#changelist-form");
const count = document.querySelector("#picked");
const keep = form.querySelector("button[name=keep]");
const all = document.querySelector("#action-toggle");
const boxes = [...form.querySelectorAll("input.action-select")];
const ticked = () => boxes.filter((box) => box.checked).length;
const elsewhere = Number(count?.textContent) - ticked();
let sending = Promise.resolve();

async function send() {
  const body = new FormData(form);
  body.delete("action");
  body.set("keep", "yes");
  const answer = await fetch(location.href, { method: "POST", body, redirect: "manual" });
  // Where it was not kept, the button is there to do it.
  keep.hidden = answer.type === "opaqueredirect";
}

function show() {
  for (const box of boxes) box.closest("tr").classList.toggle("selected", box.checked);
  all.checked = boxes.length > 0 && ticked() === boxes.length;
  count.textContent = elsewhere + ticked();
  count.closest(".tp-picked").classList.toggle("is-set", elsewhere + ticked() > 0);
}

if (keep && all) {
  keep.hidden = true;
  show();
  form.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    else if (!boxes.includes(event.target)) return;
    show();
    sending = sending.then(send, send);
  });
}
