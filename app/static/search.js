// Results while the visitor types. The page works without it.
"use strict";
(() => {
  const form = document.getElementById("search");
  const input = form.elements.q;
  const parts = ["status", "tools", "answer", "filters"].map((id) => document.getElementById(id));
  const [status, tools, answer] = parts;
  const spoken = document.getElementById("spoken");
  const bar = document.getElementById("bar");
  const suggested = document.getElementById("suggested");
  const SETTLED_AFTER = 400; // milliseconds after the last key
  let waiting, running, settling, typing;

  // The URL of the search in the form.
  function url(q = input.value) {
    const fields = new FormData(form);
    fields.set("q", q);
    const given = [...fields].filter(([name, value]) => value.trim() || name === "debug-search");
    const parameters = new URLSearchParams(given.map(([name, value]) => [name, value.trim()]));
    return parameters.size ? `?${parameters}` : location.pathname;
  }

  // Show the results of the page at `address`; true if that worked.
  async function load(address, typed = false) {
    running?.abort();
    const mine = (running = new AbortController());
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      bar.hidden = false;
      status.textContent = form.dataset.searching;
    }, SEARCHING_AFTER);
    document.body.classList.add("busy");
    try {
      const response = await fetch(address, { signal: limited(mine.signal) });
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      if (running !== mine) return;
      if (!next.getElementById("answer")) throw response;
      clearTimeout(waiting);
      for (const part of parts) {
        const { innerHTML } = next.getElementById(part.id);
        // What stays the same keeps its focus; filters are counted when the visitor pauses.
        if (innerHTML !== part.innerHTML && (innerHTML || part !== tools || !typed)) part.innerHTML = innerHTML;
      }
      bar.hidden = next.getElementById("bar").hidden;
      document.title = next.title;
      document.body.className = next.body.className;
      suggest(new URLSearchParams(address.split("?")[1]).get("q"), mine.signal);
      return true;
    } catch (error) {
      if (running === mine) showFailure(address, error);
    }
  }

  function showFailure(address, error) {
    clearTimeout(waiting);
    bar.hidden = true;
    for (const part of [status, tools]) part.replaceChildren();
    answer.innerHTML = '<section class="error" role="alert"><h2></h2><p><button type="button"></button></p></section>';
    const limit = error.status === 429 && form.dataset.limited.replace("{seconds}", retryAfter(error));
    answer.querySelector("h2").textContent = limit || (navigator.onLine ? form.dataset.unavailable : form.dataset.offline);
    const button = answer.querySelector("button");
    button.textContent = form.dataset.retry;
    button.onclick = () => {
      input.focus();
      load(address);
    };
    const q = input.value.trim(), name = document.querySelector("h1").textContent;
    document.title = q ? `${q} – ${name}` : name;
    document.body.className = "";
  }

  // Searches that continue what was typed.
  async function suggest(q, signal) {
    let texts = [];
    try {
      const response = q && (await fetch(new URL("suggest?" + new URLSearchParams({ q, size: 6 }), form.action), { signal }));
      const suggestions = response?.ok ? (await response.json()).suggestions : [];
      texts = suggestions.filter(({ kind, text }) => kind === "search" && text !== q).map(({ text }) => text);
    } catch {
      if (signal.aborted) return;
    }
    const links = texts.map((text) => {
      const link = document.createElement("a");
      link.href = url(text);
      link.dir = "auto";
      link.textContent = text;
      return link;
    });
    suggested.replaceChildren(...links);
  }

  // One entry in the history for a run of keys.
  function remember(address) {
    clearTimeout(settling);
    if (address === location.pathname + location.search || address === location.search) return false;
    history[typing ? "replaceState" : "pushState"](null, "", address);
    return true;
  }

  // On Enter the hits that were seen stay.
  const typedUrl = () => url() + (input.value.trim() ? "&typing=on" : "");

  const searchTyped = throttled(() => {
    const address = url(), typedAddress = typedUrl(), counted = typedAddress === address;
    const loaded = load(counted ? address : `${typedAddress}&facets=off`, true);
    clearTimeout(settling);
    settling = setTimeout(async () => {
      if (remember(address)) typing = true;
      if (!(await loaded) || address !== url()) return;
      speak();
      if (!counted) load(typedAddress);
    }, SETTLED_AFTER);
  });

  // Once typing rests.
  function speak() {
    spoken.textContent = status.textContent;
  }

  async function searchNow(address) {
    searchTyped.cancel();
    remember(address);
    typing = false;
    if (await load(address)) speak();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    searchNow(typedUrl());
  });
  input.addEventListener("input", ({ isComposing }) => isComposing || searchTyped());
  input.addEventListener("compositionend", searchTyped);
  suggested.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    input.value = link.textContent;
    input.focus();
    searchNow(url());
  });
  addEventListener("popstate", () => {
    searchTyped.cancel();
    clearTimeout(settling);
    typing = false;
    input.value = new URLSearchParams(location.search).get("q") || "";
    load(location.href);
  });
  keepTyped(input);
  if (input.value) suggest(input.value.trim(), new AbortController().signal);
  suggested.hidden = false;

  // Menus of filters close with Escape, a click elsewhere and when the focus leaves them.
  const shut = (except) => {
    for (const menu of document.querySelectorAll("#tools details[open]")) if (menu !== except) menu.open = false;
  };
  addEventListener("click", (event) => shut(event.target.closest("details")));
  tools.addEventListener("focusout", ({ target, relatedTarget }) => {
    const menu = target.closest("details");
    // Without a new focus: the scroll bar of the menu.
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
    } else moveFocus(event, input, answer.querySelectorAll(".hits h3 a, .hits .part a"));
  });

  for (const type of ["click", "auxclick"])
    answer.addEventListener(type, ({ target, button }) => {
      const hit = target.closest("h3 a, .part a")?.closest(".hits > li");
      if (!hit || !form.dataset.clicks || button > 1) return;
      countClick(form.dataset.clicks, input.value.trim(), hit.dataset.oid);
    });
})();
