// Buttons that copy a text of the page. Without script they stay hidden: the text can be selected.
import { words } from "./words.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  const said = button.parentElement.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const held = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(held.value ?? held.textContent);
      said.textContent = words.copied;
    } catch {
      said.textContent = words.notCopied;
    }
  });
}
