// A copy button for each request; without this script its text can be selected.
"use strict";
(() => {
  const addButtons = () => {
    for (const pre of document.querySelectorAll("#debug .body pre")) {
      if (pre.previousElementSibling.localName === "button") continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(pre.textContent);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(pre);
          button.textContent = "Selected: copy with Ctrl+C";
        }
      });
      pre.before(button);
    }
  };
  addButtons();
  new MutationObserver(addButtons).observe(document.getElementById("answer"), { childList: true, subtree: true });
})();
