// Chips over a plain text field: one for each pattern. The field stays, hidden, and is what is sent.
import { words } from "./words.js";

// The same pieces as rule_texts.py reads.
const PIECE = /\s*(?:"((?:[^"]|"")*)"(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)/g;

export function split(text) {
  const found = [];
  for (const [, quoted, plain] of text.matchAll(PIECE)) {
    if (quoted !== undefined) found.push(quoted.replaceAll('""', '"'));
    else if (plain.trim()) found.push(plain.trim());
  }
  return found;
}

export function join(patterns) {
  const quoted = (text) => (text && !/[",]/.test(text) && text === text.trim() ? text : `"${text.replaceAll('"', '""')}"`);
  return patterns.map(quoted).join(", ");
}

function chip(text, onRemove) {
  const item = document.createElement("li");
  const code = document.createElement("code");
  code.textContent = text;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tp-btn is-quiet";
  button.setAttribute("aria-label", words.remove.replace("{}", text));
  button.textContent = "×";
  button.addEventListener("click", () => onRemove(item));
  item.append(code, button);
  return item;
}

export function enhance(field) {
  const list = document.createElement("ul");
  list.className = "tp-chips";
  list.setAttribute("role", "list");
  const entry = document.createElement("input");
  entry.type = "text";
  for (const name of ["id", "placeholder", "spellcheck", "aria-describedby", "list"]) {
    if (field.hasAttribute(name)) entry.setAttribute(name, field.getAttribute(name));
  }
  entry.autocomplete = "off"; // off in the field, Back would lose it
  const last = document.createElement("li");
  last.append(entry);
  list.append(last);
  field.removeAttribute("id");
  field.hidden = true;
  field.after(list);

  let patterns = [];
  const tell = () => {
    field.value = join([...patterns, ...split(entry.value)]);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const remove = (item) => {
    const items = [...list.children];
    const at = items.indexOf(item);
    patterns.splice(at, 1);
    item.remove();
    const next = list.children[at];
    (next.querySelector("button") ?? entry).focus();
    tell();
  };
  const add = (texts) => {
    for (const text of texts) {
      patterns.push(text);
      last.before(chip(text, remove));
    }
    entry.value = "";
    entry.placeholder = "";
  };
  // A quote that is still open keeps its comma.
  const whole = () => (entry.value.match(/"/g) ?? []).length % 2 === 0;
  entry.addEventListener("keydown", (event) => {
    const enters = event.key === "Enter" || (event.key === "," && whole());
    if (enters && entry.value.trim()) {
      event.preventDefault();
      add(split(entry.value));
      tell();
    } else if (event.key === "Backspace" && !entry.value && patterns.length) {
      event.preventDefault();
      list.children[patterns.length - 1].querySelector("button").focus();
    }
  });
  entry.addEventListener("input", (event) => {
    event.stopPropagation();
    if (entry.value.includes(",") && whole() && entry.value.trim().endsWith(",")) add(split(entry.value));
    tell();
  });
  entry.addEventListener("paste", () => setTimeout(() => {
    if (entry.value.includes(",") && whole()) add(split(entry.value));
    tell();
  }));
  entry.addEventListener("blur", () => {
    if (entry.value.trim()) add(split(entry.value));
  });
  const found = split(field.value);
  if (found.length) add(found);
}
