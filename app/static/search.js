// Results while one types. Without this script the page works as plain HTML.
"use strict";
(() => {
  const form = document.getElementById("search");
  const input = form.elements.q;
  const parts = ["status", "tools", "answer", "filters"].map((id) => document.getElementById(id));
  const DELAY = 200; // milliseconds after the last key
  let timer, running, typing = false;

  const address = () => {
    const given = [...new FormData(form)].filter(([name, value]) => value.trim() || name === "debug-search");
    if (!input.value.trim()) return location.pathname;
    return "?" + new URLSearchParams(given.map(([name, value]) => [name, value.trim()]));
  };

  // Replace the results by those of the page at `url`.
  async function load(url) {
    running?.abort();
    const mine = (running = new AbortController());
    document.body.classList.add("busy");
    try {
      const response = await fetch(url, { signal: mine.signal });
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      if (mine.signal.aborted) return;
      if (!next.getElementById("answer")) throw new Error("not the search page");
      for (const part of parts) part.innerHTML = next.getElementById(part.id).innerHTML;
      document.getElementById("bar").hidden = next.getElementById("bar").hidden;
      document.title = next.title;
      document.body.className = next.body.className;
    } catch (error) {
      if (error.name === "AbortError") return;
      document.getElementById("bar").hidden = false;
      document.getElementById("status").textContent = "Search is not available. Please try again.";
      document.body.classList.remove("busy");
    }
  }

  // One entry in the history for a run of keys, so that Back leads to the search before.
  function search(typed) {
    clearTimeout(timer);
    const url = address();
    if (url === location.pathname + location.search || url === location.search) {
      if (!typed) typing = false;
      return;
    }
    history[typing ? "replaceState" : "pushState"](null, "", url);
    typing = typed;
    load(url);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search(false);
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      search(true);
    }, DELAY);
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    typing = false;
    input.value = new URLSearchParams(location.search).get("q") || "";
    load(location.href);
  });

  // Menus of filters close with Escape and with a click elsewhere; `/` leads to the box.
  const shut = (except) => {
    for (const menu of document.querySelectorAll("#tools details[open]")) if (menu !== except) menu.open = false;
  };
  addEventListener("click", (event) => shut(event.target.closest("details")));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = document.activeElement.closest("#tools details[open]");
      shut();
      menu?.querySelector("summary").focus();
    } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== input) {
      event.preventDefault();
      input.select();
    }
  });
})();
