// <blog-search>: a search box with results for any page; docs/embedding.md describes it.
// The service sends this file without comments and indentation, and widget.css in its place below.
"use strict";
(() => {
  // A page whose script replaces its <body> may run this file once more: the element is defined once,
  // and a box is placed for every script tag.
  const defined = customElements.get("blog-search");
  // The last script tag; null for a module.
  let script = document.currentScript;
  if (defined) return defined.place(script);
  if (!AbortSignal.any || !CSS.supports("color", "light-dark(red, red)"))
    return console.warn("<blog-search> needs a browser of 2024 or later.");
  // The elements in the page, also those in the shadow DOM of others.
  const hosts = new Set();
  // The element that was placed for a script tag.
  let placed;
  const TEXTS = {
    label: "Search",
    placeholder: "Search posts and comments",
    close: "Close",
    searching: "Searching …",
    found: "{shown} of {count} found.",
    corrected: "Showing results for {to}.",
    instead: "Search instead for {from}",
    dropped: "No post contains {words}.",
    nothing: "Nothing found for “{q}”.",
    comment: "Comment",
    more: "More results",
    limited: "Too many searches. Try again in {seconds} seconds.",
    unavailable: "Search is not available now.",
    offline: "You are offline.",
    retry: "Try again",
  };

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`STYLE SHEET`);

  // An element with a class: make("p.note", {title: "…"}, "text"). Without innerHTML nothing in a
  // post can become markup, and Trusted Types allow it.
  function make(name, props, ...children) {
    const [tag, className = ""] = name.split(".");
    const element = Object.assign(document.createElement(tag), { className }, props);
    element.append(...children);
    return element;
  }

  // A highlight of the service is escaped text with <mark> elements.
  function marked(highlight) {
    return highlight.split(/<\/?mark>/).map((part, number) => {
      const text = part.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
      return number % 2 ? make("mark", {}, text) : text;
    });
  }

  // An absolute URL of the web; undefined for anything else, such as javascript:.
  function webUrl(url) {
    try {
      const { protocol, href } = new URL(url, document.baseURI);
      if (/^https?:$/.test(protocol)) return href;
    } catch {}
  }

  // The props of a link, if there is something to link to.
  function linkTo(url) {
    const href = url && webUrl(url);
    return href ? { href } : {};
  }

  const shortcuts = (host) => (host.getAttribute("shortcut") ?? "/ mod+k").toLowerCase().split(" ");

  function setup(host) {
    // `shown`: the parameters of the answer that is shown, without the page.
    let timer, waiting, running, active, shown;
    let made = 0;
    let page = 1;
    // Whether to search for what was typed, without corrections.
    let exact = false;

    const attribute = (name) => host.getAttribute(name);
    const given = attribute("service") ?? script?.src;
    const service = given && webUrl(given);
    // The content of the element stays visible.
    if (!service) return explain();
    const text = (name, values = {}) =>
      (attribute(`text-${name}`) ?? TEXTS[name]).replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
    const button = (name, onclick, values, props) =>
      make("button", { type: "button", onclick, ...props }, text(name, values));
    const option = (tag, props, ...children) =>
      make(tag, { role: "option", id: `o${++made}`, tabIndex: -1, ariaSelected: "false", ...props }, ...children);

    const ariaLabel = text("label");
    const input = make("input", {
      role: "combobox", dir: "auto", ariaLabel, ariaExpanded: "false", ariaAutoComplete: "list", maxLength: 200,
      placeholder: text("placeholder"), autocomplete: "off", spellcheck: false, enterKeyHint: "search",
    });
    input.setAttribute("aria-controls", "list");
    const form = make("form.box", { role: "search" }, input);
    const status = make("p", { role: "status" });
    const list = make("div", { role: "listbox", id: "list", ariaLabel, tabIndex: -1, hidden: true });
    const more = button("more", () => search(true), {}, { className: "more", hidden: true });
    const panel = make("div.panel", {}, status, list, more);
    const parts = [form, panel];
    const root = make("div.root", {}, ...parts);
    const dialog = attribute("variant") === "modal" ? make("dialog", { ariaLabel, closedBy: "any" }, ...parts) : null;
    const close = () => dialog?.close();
    const open = () => {
      // Nothing would be seen of the dialog of an element that is hidden.
      if (!host.checkVisibility()) return;
      if (dialog && !dialog.open) dialog.showModal();
      input.focus();
      input.select();
    };
    Object.assign(host, { open, close });
    if (dialog) {
      const opener = button("label", open, {}, { className: "box", ariaHasPopup: "dialog" });
      const [first] = shortcuts(host);
      if (first.length === 1) opener.append(make("kbd", { ariaHidden: "true" }, first));
      form.append(button("close", close));
      root.append(opener, dialog);
    }
    const shadow = host.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [sheet];
    shadow.append(root);

    form.onsubmit = (event) => {
      event.preventDefault();
      search();
    };
    input.oninput = () => {
      exact = false;
      clearTimeout(timer);
      // After the last key.
      timer = setTimeout(search, 180);
    };
    root.onkeydown = (event) => {
      // To the page the target is <blog-search>, no field: it would take a key for its own shortcut.
      if (event.target === input && input.checkVisibility() && !/Tab|Esc/.test(event.key)) event.stopPropagation();
      if (event.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        const options = [...list.children];
        const from = active ? options.indexOf(active) : step > 0 ? -1 : 0;
        input.focus();
        activate(options.at((from + step) % options.length));
      } else if (event.key === "Enter" && active && event.target === input) active.click();
      else if (event.key === "Escape" && !dialog) {
        input.value = "";
        search();
      } else return;
      event.preventDefault();
    };
    list.onclick = (event) => {
      const option = event.target.closest("[role=option]");
      if (option?.matches("div")) {
        input.value = option.textContent;
        again();
      } else if (!event.ctrlKey && !event.metaKey) close();
    };

    function again(next) {
      input.focus();
      search(next);
    }

    function activate(option) {
      if (active) active.ariaSelected = "false";
      active = option;
      input.setAttribute("aria-activedescendant", option?.id ?? "");
      if (!option) return;
      option.ariaSelected = "true";
      option.scrollIntoView({ block: "nearest" });
    }

    async function request(path, parameters, signal) {
      const url = new URL(`${path}?${parameters}`, service);
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10000)]) });
      const body = await response.json().catch(() => ({}));
      if (response.ok) return body;
      throw { status: response.status, message: body.error?.message, seconds: response.headers.get("Retry-After") };
    }

    async function search(next = false) {
      clearTimeout(timer);
      clearTimeout(waiting);
      running?.abort();
      const { signal } = (running = new AbortController());
      const q = input.value.trim();
      // Format characters, such as a zero-width space, are nothing to search for.
      if (!/[^\p{Cf}]/u.test(q)) return show();
      const parameters = new URLSearchParams(attribute("parameters") ?? "");
      parameters.set("q", q);
      if (exact) parameters.set("typos", "off");
      const wanted = `${parameters}`;
      // No second page of what was typed since.
      next &&= wanted === shown;
      if (next) parameters.set("page", page + 1);
      const some = new URLSearchParams({ q });
      if (parameters.has("lang")) some.set("lang", parameters.get("lang"));
      list.ariaBusy = "true";
      waiting = setTimeout(() => status.replaceChildren(text("searching")), 500);
      try {
        const searches = ({ suggestions }) => suggestions.filter(({ kind }) => kind === "search");
        const suggesting = next || exact ? [] : request("suggest", some, signal).then(searches).catch(() => []);
        const answer = await request("search", parameters, signal);
        if (signal.aborted) return;
        shown = wanted;
        showAnswer(answer);
        const others = (await suggesting).filter(({ text }) => text !== answer.corrected?.to);
        if (!signal.aborted) fill("prepend", others.map(({ text }) => option("div", { dir: "auto" }, text)));
      } catch (error) {
        if (!signal.aborted) showError(error, next);
      }
    }

    function showAnswer(answer) {
      const { q, count, hits, corrected, dropped } = answer;
      const options = hits.flatMap((hit) => [post(hit), ...(hit.comments ?? []).map((one) => comment(one, hit))]);
      page = answer.page;
      const reached = (page - 1) * answer.size + hits.length;
      const message = [text(count ? "found" : "nothing", { q, count, shown: reached }), " "];
      const instead = () => {
        exact = true;
        again();
      };
      if (corrected) message.push(text("corrected", corrected), " ", button("instead", instead, corrected), " ");
      if (dropped) message.push(text("dropped", { words: dropped.join(", ") }));
      show(message, options, page > 1);
      // The service has no page after that.
      const last = reached >= count || !hits.length || page >= 50;
      if (last && more.matches(":focus")) list.focus();
      more.hidden = last;
    }

    function showError({ status, message, seconds }, next) {
      const kind = !navigator.onLine ? "offline" : status === 429 && seconds ? "limited" : "unavailable";
      const parts = [text(kind, { seconds }), " "];
      // For who wrote the page: nothing that a reader can change.
      if (status === 400) console.error(message);
      else parts.push(button("retry", () => again(next)));
      show(parts, [], next);
    }

    // Replace the options, or add to them.
    function show(message = [], options = [], add = false) {
      clearTimeout(waiting);
      list.ariaBusy = "false";
      status.replaceChildren(...message);
      if (!add) {
        activate();
        list.replaceChildren();
        more.hidden = true;
        panel.scrollTop = 0;
        if (form.getBoundingClientRect().top < 0) form.scrollIntoView();
      }
      fill("append", options);
    }

    function fill(how, options) {
      list[how](...options);
      list.hidden = !list.firstChild;
      input.ariaExpanded = `${!list.hidden}`;
    }

    const prose = ({ language }) => ({ dir: "auto", ...(language && { lang: language }) });
    const fragments = (highlights, post) => make("span", prose(post), ...marked(highlights.join(" … ")));
    const about = (...parts) => make("span.about", {}, parts.filter(Boolean).join(" · "));

    function post(hit) {
      const { url, highlight, pub_date: stamp, categories = [] } = hit;
      const title = make("span.title", prose(hit), ...marked(highlight.title));
      return option("a", linkTo(url), title, about(day(stamp), ...categories), fragments(highlight.text, hit));
    }

    // A comment names no language; most are in that of the post.
    function comment({ url, author, highlight }, post) {
      return option("a.comment", linkTo(url), fragments(highlight, post), about(text("comment"), author));
    }

    function day(stamp) {
      if (!stamp) return;
      const lang = host.closest("[lang]")?.lang || undefined;
      try {
        return new Date(stamp.slice(0, 10)).toLocaleDateString(lang, { dateStyle: "medium", timeZone: "UTC" });
      } catch {
        // `lang` is not a language.
        return stamp.slice(0, 10);
      }
    }
  }

  customElements.define("blog-search", class extends HTMLElement {
    static place(tag) {
      script = tag ?? script;
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", place);
      else place();
    }
    connectedCallback() {
      hosts.add(this);
      if (this !== placed) placed?.remove();
      if (!this.shadowRoot) setup(this);
    }
    disconnectedCallback() {
      hosts.delete(this);
      // Later, because the page may be about to move the element or to put in another.
      setTimeout(place);
    }
  });

  document.addEventListener("keydown", (event) => {
    const mod = event.ctrlKey || event.metaKey;
    const at = event.composedPath()[0];
    if (event.defaultPrevented || event.altKey || (mod && event.shiftKey)) return;
    // A closed dialog keeps the focus until the next frame.
    if (at.checkVisibility?.() && (at.isContentEditable || at.closest("input, textarea, select"))) return;
    const pressed = (mod ? "mod+" : "") + event.key.toLowerCase();
    const wanted = (host) => host.shadowRoot && host.checkVisibility() && shortcuts(host).includes(pressed);
    const host = [...hosts].find(wanted);
    if (!host) return;
    event.preventDefault();
    host.open();
  });

  // Without an element in the page, one is put after the script tag; for a tag in the head a button in
  // the corner of the window.
  function place() {
    if (hosts.size) return;
    if (!script) return explain();
    placed = make("blog-search");
    const inHead = script.closest("head");
    if (inHead) for (const name of ["variant", "floating"]) placed.setAttribute(name, "modal");
    for (const { name, value } of script.attributes)
      if (name.startsWith("data-")) placed.setAttribute(name.slice(5), value);
    if (inHead) document.body?.append(placed);
    else script.after(placed);
  }

  function explain() {
    const remedy = 'Load widget.js without type="module", or set the attribute "service" to an http(s) URL.';
    console.error(`The service of <blog-search> is unknown. ${remedy}`);
  }

  customElements.get("blog-search").place(script);
})();
