// A button on every block of code that copies what a reader would type: no prompts, no output.
"use strict";

(function () {
  // Python: lines after ">>> " and the "... " that follow. A shell: lines after "$ ", with those that a backslash continues.
  function typed(text) {
    const lines = text.replace(/\n$/, "").split("\n");
    if (!lines.some((line) => /^(>>>|\$) /.test(line))) return text;
    const kept = [];
    let inside = false;
    for (const line of lines) {
      const first = /^(>>>|\$) /.exec(line);
      const next = inside && (/^\.\.\.( |$)/.test(line) || kept[kept.length - 1].endsWith("\\"));
      if (first) kept.push(line.slice(first[0].length));
      else if (next) kept.push(line.replace(/^\.\.\. ?/, ""));
      inside = Boolean(first || next);
    }
    return kept.join("\n") + "\n";
  }

  async function put(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea"); // pages opened from a disk have no clipboard interface
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.appendChild(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const block of document.querySelectorAll("div.highlight")) {
      const code = block.querySelector("pre");
      if (!code) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", "Copy the code");
      button.addEventListener("click", async () => {
        await put(typed(code.textContent));
        button.textContent = "copied";
        setTimeout(() => (button.textContent = "copy"), 1500);
      });
      block.appendChild(button);
    }
  });
})();
