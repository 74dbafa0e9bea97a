// Results and suggestions while the visitor types. Without this script the page works as plain HTML.
"use strict";
(() => {
  const form = document.getElementById("search");
  const input = form.elements.q;
  const parts = ["status", "tools", "answer", "filters"].map((id) => document.getElementById(id));
  const [status, tools, answer] = parts;
  const bar = document.getElementById("bar");
  const RESULTS_AFTER = 200, SUGGESTIONS_AFTER = 100; // milliseconds after the last key
  const SEARCHING_AFTER = 500, TIMEOUT = 10_000; // milliseconds after the request
  let timer, waiting, running, typing = false;

  const address = () => {
    const given = [...new FormData(form)].filter(([name, value]) => value.trim() || name === "debug-search");
    const url = new URLSearchParams(given.map(([name, value]) => [name, value.trim()]));
    return url.size ? "?" + url : location.pathname;
  };

  // Replace the results by those of the page at `url`.
  async function load(url) {
    running?.abort();
    const mine = (running = new AbortController());
    const limit = setTimeout(() => mine.abort(), TIMEOUT);
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      bar.hidden = false;
      status.textContent = "Searching …";
    }, SEARCHING_AFTER);
    document.body.classList.add("busy");
    try {
      const response = await fetch(url, { signal: mine.signal });
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      if (running !== mine) return;
      if (!next.getElementById("answer")) throw new Error("not the search page");
      clearTimeout(waiting);
      for (const part of parts) part.innerHTML = next.getElementById(part.id).innerHTML;
      bar.hidden = next.getElementById("bar").hidden;
      document.title = next.title;
      document.body.className = next.body.className;
    } catch {
      if (running === mine) showFailure(url);
    } finally {
      clearTimeout(limit);
    }
  }

  // Nothing of the search before stays beside a query that it does not belong to.
  function showFailure(url) {
    clearTimeout(waiting);
    bar.hidden = true;
    for (const part of [status, tools]) part.replaceChildren();
    answer.innerHTML =
      '<section class="error" role="alert"><h2>Search is not available</h2><p>The service cannot be reached.</p>' +
      '<p><button type="button">Try again</button></p></section>';
    answer.querySelector("button").onclick = () => {
      input.focus();
      load(url);
    };
    const q = input.value.trim(), name = document.querySelector("h1").textContent;
    document.title = q ? `${q} – ${name}` : name;
    document.body.className = "";
  }

  // One entry in the history for a run of keys, so that Back leads to the search before.
  function search(typed) {
    clearTimeout(timer);
    const url = address();
    if (url === location.pathname + location.search || url === location.search) {
      if (typed) return;
      typing = false;
      // The URL names this search, but its results are not there.
      if (document.querySelector("#answer .error")) load(url);
      return;
    }
    history[typing ? "replaceState" : "pushState"](null, "", url);
    typing = typed;
    load(url);
  }

  // Suggestions: a combobox with a list. What is typed stays until an option is chosen.
  const list = document.createElement("ul");
  let asking, suggestTimer, options = [], active = -1;
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  input.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", "suggestions"], ["aria-expanded", "false"]])
    input.setAttribute(name, value);

  function close() {
    clearTimeout(suggestTimer);
    asking?.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    activate(-1);
  }

  function activate(index) {
    active = index;
    options.forEach((option, i) => option.setAttribute("aria-selected", i === index));
    if (index < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", options[index].id);
      options[index].scrollIntoView({ block: "nearest" });
    }
  }

  function choose({ kind, text, url }) {
    close();
    if (kind === "post") location.href = url;
    else {
      input.value = text;
      search(false);
    }
  }

  async function suggest() {
    asking?.abort();
    const mine = (asking = new AbortController());
    const q = input.value.trim();
    if (!q) return close();
    try {
      const parameters = new URLSearchParams({ q, size: 6 });
      const response = await fetch("suggest?" + parameters, { signal: mine.signal });
      const found = response.ok ? (await response.json()).suggestions : [];
      if (mine.signal.aborted || document.activeElement !== input) return;
      show(found.filter(({ kind, url }) => kind !== "post" || /^https?:$/.test(new URL(url, location).protocol)));
    } catch {
      if (!mine.signal.aborted) close(); // the search works without suggestions
    }
  }

  function show(found) {
    options = found.map((one, i) => {
      const option = document.createElement("li");
      option.id = "suggestion-" + i;
      option.className = one.kind;
      option.setAttribute("role", "option");
      option.dir = "auto";
      option.textContent = one.text;
      option.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
      option.addEventListener("click", () => choose(one));
      return option;
    });
    list.replaceChildren(...options);
    list.hidden = !options.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    activate(-1);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close();
    search(false);
  });
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    clearTimeout(suggestTimer);
    if (event.isComposing) return;
    suggestTimer = setTimeout(suggest, SUGGESTIONS_AFTER);
    timer = setTimeout(() => search(true), RESULTS_AFTER);
  });
  input.addEventListener("compositionend", () => input.dispatchEvent(new InputEvent("input")));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, count = list.hidden ? 0 : options.length;
    if (key === "ArrowDown" && !count && input.value.trim()) suggest();
    else if (!count) return;
    // From the last option one key leads back to the box, and from there to the first.
    else if (key === "ArrowDown") activate(active + 1 < count ? active + 1 : -1);
    else if (key === "ArrowUp") activate(active < 0 ? count - 1 : active - 1);
    else if (key === "Enter" && active >= 0) options[active].click();
    else if (key === "Escape") close();
    else return;
    event.preventDefault();
    if (key === "Escape") event.stopPropagation();
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    close();
    typing = false;
    input.value = new URLSearchParams(location.search).get("q") || "";
    load(location.href);
  });

  // Menus of filters close with Escape, with a click elsewhere and when the focus leaves them; `/` leads
  // to the box.
  const shut = (except) => {
    for (const menu of document.querySelectorAll("#tools details[open]")) if (menu !== except) menu.open = false;
  };
  addEventListener("click", (event) => shut(event.target.closest("details")));
  tools.addEventListener("focusout", ({ target, relatedTarget }) => {
    const menu = target.closest("details");
    // Without a new focus it may be a press on the scroll bar of the menu.
    if (menu && relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = document.activeElement.closest("#tools details[open]");
      shut();
      menu?.querySelector("summary").focus();
    } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(input|textarea|select)$/.test(document.activeElement.localName)) {
      event.preventDefault();
      input.select();
    }
  });
})();
