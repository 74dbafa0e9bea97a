// The inside of <blog-search>: the box, the dialog, the results, and what keys and the mouse do.

const RECENT = "blogsearch:recent"; // in the storage of the browser

const SETTLED_AFTER = 1000; // milliseconds after an answer
const shortcuts = (host) => (host.getAttribute("shortcut") ?? "mod+k /").toLowerCase().split(" ").filter(Boolean);
const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
// Searches of generators that take Ctrl+K for themselves.
const OTHERS = "site-search, .DocSearch, .VPNavBarSearch, [data-md-component=search], [aria-keyshortcuts*='+K']";

// The page behind an open dialog does not scroll. A style sheet of its own leaves the page's styles as they are.
const STILL = new CSSStyleSheet();
const still = (on) => {
  // Without its scroll bar the page would jump sideways.
  const gutter = innerWidth > document.documentElement.clientWidth ? "scrollbar-gutter:stable!important" : "";
  if (on) STILL.replaceSync(`html{overflow:hidden!important;${gutter}}`);
  const others = document.adoptedStyleSheets.filter((sheet) => sheet !== STILL);
  document.adoptedStyleSheets = on ? [...others, STILL] : others;
};

// Below an element, or above it if there is little room, inside of the window.
function putBeside(popover, anchor) {
  const { left, top, bottom, width } = anchor.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement, below = clientHeight - bottom;
  const above = below < 250 && below < top, { style } = popover;
  style.minWidth = `${width}px`;
  style.maxHeight = `min(70vh, ${(above ? top : below) - 8}px)`;
  const x = Math.max(8, Math.min(left, clientWidth - 8 - popover.offsetWidth));
  style.inset = `${above ? `auto auto ${clientHeight - top}px` : `${bottom}px auto auto`} ${x}px`;
}

class SearchBox {
  shown = ""; // the parameters of the answer that is shown, without the page
  page = 1;
  typing = true; // whether the query may go on
  exact = false; // without corrections
  opening = false; // whether Enter was pressed in the dialog before there were results
  running = new AbortController();
  chosen = new URLSearchParams(); // of the filters

  constructor(host, service, messages) {
    const text = messageReader(host, messages);
    Object.assign(this, { host, service, text, lang: messages.lang });
    const modal = this.attribute("variant") === "modal";
    const ariaLabel = text("label");

    this.input = make("input.input", {
      role: "searchbox", dir: "auto", ariaLabel, maxLength: 200, placeholder: this.attribute("text-placeholder") ?? `${ariaLabel} …`,
      autocomplete: "off", autocapitalize: "off", spellcheck: false, enterKeyHint: "search",
    });
    this.input.setAttribute("autocorrect", "off");
    this.wipe = make("button.wipe", { type: "button", ariaLabel: text("clear"), onclick: () => this.empty() }, "×");
    const close = modal && this.button("close", () => this.close());
    if (close) {
      // What is seen is a part of the name, for who speaks it.
      close.ariaLabel = `${text("close")} (Esc)`;
      close.replaceChildren(make("kbd", { ariaHidden: "true" }, "Esc"));
    }
    this.form = make("form.box", { role: "search" }, icon("search"), this.input, this.wipe, close);
    this.suggested = make("nav.suggested", { ariaLabel: text("suggested"), tabIndex: -1 });
    this.chips = make("div.chips");
    this.menus = [this.menu("category", "categories"), this.menu("year", "years")];
    this.filters = make("div.filters", {}, this.chips, ...this.menus.flat());
    this.status = make("p.status");
    // Read aloud when typing rests, not after each key.
    this.spoken = make("p.spoken", { role: "status" });
    this.list = make("ul.list", { ariaLabel, tabIndex: -1 });
    this.more = this.button("more", () => this.search(true));
    this.all = make("a.all", {}, text("all"), make("kbd", { ariaHidden: "true" }, `${MOD} ↵`));
    this.links = make("p.links", {}, this.more, this.all);
    this.panel = make("div.panel", { tabIndex: -1 }, this.filters, this.status, this.spoken, this.list, this.suggested, this.links);
    const foot = modal && make("p.keys", { ariaHidden: "true" }, text("keys", { arrows: "↑ ↓", enter: "↵" }));
    const parts = [this.form, this.panel, foot].filter(Boolean);
    this.root = make("div.root", { dir: messages.dir === "rtl" ? "rtl" : "" });
    if (modal) {
      const onclose = () => {
        this.opening = false;
        still(false);
        this.emit("close");
      };
      // A click beside it; Safari has no `closedBy`.
      const onmousedown = (event) => {
        if (event.target !== this.dialog) return;
        event.preventDefault();
        this.close();
      };
      this.dialog = make("dialog.dialog", { ariaLabel, onclose, onmousedown }, ...parts);
      const free = shortcuts(host).filter((key) => key !== "mod+k" || !document.querySelector(OTHERS));
      const named = (mod) => free[0]?.toUpperCase().replace("MOD+", mod) ?? "";
      const hint = named(`${MOD} `);
      const opener = make("button.box.opener", { type: "button", ariaHasPopup: "dialog", onclick: () => this.open() },
        icon("search"), make("span", {}, ariaLabel), hint && make("kbd", { ariaHidden: "true" }, hint));
      opener.setAttribute("aria-keyshortcuts", named(MOD === "⌘" ? "Meta+" : "Control+"));
      this.root.append(opener, this.dialog);
    } else {
      this.root.append(...parts);
      if (host.hasAttribute("overlay")) this.panel.popover = "manual";
    }
    this.show();

    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    host.attachShadow({ mode: "open" }).append(this.root);
    host.shadowRoot.adoptedStyleSheets = [sheet];
    this.listen();
    this.followScheme();
    keepTyped(this.input);
    const query = this.attribute("query"), given = new URLSearchParams(location.search), q = given.get(query);
    if (!q) return;
    for (const [{ name }] of host.hasAttribute("filters") ? this.menus : [])
      for (const value of given.getAll(`${query}-${name}`)) this.chosen.append(name, value);
    this.input.value = q;
    if (modal) this.open();
    this.search();
  }

  attribute(name) {
    return this.host.getAttribute(name);
  }

  button(name, onclick, values) {
    return make(`button.${name}`, { type: "button", onclick }, this.text(name, values));
  }

  // Tells the page what happens; false if the page prevents it.
  emit(name, detail) {
    return this.host.dispatchEvent(new CustomEvent(`blogsearch:${name}`, { detail, bubbles: true, cancelable: true }));
  }

  listen() {
    this.typed = throttled(() => this.search());
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    // The letters of an input method are not the word yet.
    this.input.addEventListener("compositionend", () => this.input.oninput({}));
    this.input.oninput = ({ isComposing }) => {
      if (isComposing) return;
      this.typing = true;
      this.exact = this.opening = false;
      this.typed();
    };
    this.input.onfocus = () => {
      this.followScheme();
      if (!this.input.value) this.showRecent();
    };
    this.root.addEventListener("focusin", this.place);
    this.root.onkeydown = (event) => this.press(event);
    this.panel.onclick = this.panel.onauxclick = (event) => this.follow(event);
  }

  open() {
    // Nothing would be seen of the dialog of an element that is hidden.
    if (!this.host.checkVisibility()) return;
    if (this.dialog && !this.dialog.open) {
      this.followScheme();
      still(true);
      this.dialog.showModal();
      this.emit("open");
    }
    this.input.focus();
    this.input.select();
  }

  close() {
    this.dialog?.close();
  }

  // The element is no longer in the page, or the page shows another address.
  leave() {
    clearTimeout(this.writing);
    if (this.dialog?.open) this.dialog.close();
    still(false);
  }

  // A page without `color-scheme` whose text is light is dark. The accent is that of links in its text, darker
  // or lighter if they are hard to read.
  followScheme() {
    const tried = getComputedStyle(this.spoken), light = (colour) => lightOf(colour, this.spoken, tried);
    const scheme = (element, given) => {
      const { color, colorScheme } = getComputedStyle(element);
      return colorScheme !== "normal" ? (given ?? colorScheme) : light(color) > 0.4 ? "dark" : "light";
    };
    this.root.style.colorScheme = scheme(this.host, "");
    // What lies over the page looks like the page, and not like its header.
    const over = this.dialog ?? (this.panel.popover && this.panel);
    if (over) over.style.colorScheme = scheme(document.body);
    const link = document.querySelector("p a[href]") ?? document.querySelector("a[href]");
    const accent = link && getComputedStyle(link).color;
    const [low, high] = accent && accent !== getComputedStyle(this.host).color ? [accent, getComputedStyle(this.panel).backgroundColor].map(light).sort((one, other) => one - other) : [1, 1];
    const contrast = high / low;
    this.root.style.setProperty("--link", contrast > 3 ? `color-mix(in srgb, ${accent}, var(--text) ${contrast < 6 ? 35 : 0}%)` : "");
  }

  press(event) {
    const { key, target } = event;
    const inside = this.form.contains(target) || this.panel.contains(target);
    // To the page the target is <blog-search>, no field: it would take a key for its own shortcut.
    if (inside && target.checkVisibility() && !/Tab|Esc/.test(key) && !event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (composing(event)) return;
    if (key === "Enter" && target === this.input && (event.ctrlKey || event.metaKey) && this.all.href) {
      event.preventDefault();
      this.all.click();
    } else if (key === "Escape" && this.filters.querySelector(":popover-open")) {
      // WebKit would close the dialog, too.
      event.preventDefault();
      this.filters.querySelector(":popover-open").hidePopover();
    } else if (key === "Escape" && !this.dialog) {
      event.preventDefault();
      this.empty();
    } else moveFocus(event, this.input, this.list.querySelectorAll("a[href]"));
  }

  // In the dialog the first hit is opened, elsewhere what was typed is searched for.
  submit() {
    this.typed.cancel();
    if (this.dialog) {
      if (`${this.parameters()}` === this.shown) return this.best?.click();
      this.opening = true;
    } else {
      this.typing = false;
      this.remember();
    }
    this.search();
  }

  // A click on a link in the panel. `blogsearch:select` tells the page which hit was chosen.
  follow(event) {
    const link = event.target.closest("a[href]");
    const plain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey);
    if (!link || event.button > 1) return;
    if (link.className === "search") {
      if (!plain) return;
      event.preventDefault();
      this.input.value = link.q;
      return this.again();
    }
    const { hit, position } = link.closest("li") ?? {};
    if (hit) {
      const q = this.answered;
      this.tellSearch();
      if (!this.emit("select", { q, url: link.href, position, hit })) event.preventDefault();
      if (CLICKS && this.attribute("clicks") !== "off") countClick(new URL("clicks", this.service), q, hit.oid);
      this.remember();
    }
    if (plain) this.close();
  }

  // -- searching -------------------------------------------------------------------------------

  parameters() {
    const parameters = new URLSearchParams(this.attribute("parameters") ?? "");
    const given = {
      under: this.attribute("under"),
      q: this.input.value.trim(),
      typos: this.exact && "off",
      typing: this.typing && "on",
      facets: this.host.hasAttribute("filters") && "on",
    };
    for (const name of Object.keys(given)) if (given[name]) parameters.set(name, given[name]);
    for (const [name, value] of this.chosen) parameters.append(name, value);
    return parameters;
  }

  // The page of the service with all results.
  pageOf(q) {
    const parameters = this.parameters();
    parameters.set("q", q);
    for (const name of ["facets", "typing"]) parameters.delete(name);
    return new URL(`.?${parameters}`, this.service).href;
  }

  empty() {
    this.input.value = "";
    this.again();
  }

  again(next) {
    this.typing = false;
    this.input.focus();
    this.search(next);
  }

  async search(next = false) {
    clearTimeout(this.waiting);
    this.searched = undefined;
    this.running.abort();
    const { signal } = (this.running = new AbortController());
    const parameters = this.parameters();
    const q = parameters.get("q") ?? "";
    this.writeQuery(q);
    // Format characters, such as a zero-width space, are nothing to search for.
    if (!/[^\p{Cf}]/u.test(q)) return this.showRecent();
    const wanted = `${parameters}`;
    // No second page of what was typed since.
    next &&= wanted === this.shown;
    if (next) parameters.set("page", this.page + 1);
    this.list.ariaBusy = "true";
    this.waiting = setTimeout(() => this.status.replaceChildren(this.text("searching")), SEARCHING_AFTER);
    try {
      const answer = await request(this.service, "search", parameters, signal);
      if (signal.aborted) return;
      this.showAnswer(answer);
      this.shown = wanted;
      if (this.opening) this.best?.click();
      this.opening = false;
      if (!next && !this.exact) this.suggest(q, parameters, signal);
    } catch (error) {
      if (!signal.aborted) this.showError(error, next);
    }
  }

  async suggest(q, given, signal) {
    const parameters = new URLSearchParams({ q, size: 6 });
    for (const name of ["lang", "under"]) if (given.has(name)) parameters.set(name, given.get(name));
    // There are results without suggestions.
    const { suggestions = [] } = await request(this.service, "suggest", parameters, signal).catch(() => ({}));
    const searches = suggestions.filter(({ kind, text }) => kind === "search" && text !== q);
    if (!signal.aborted) this.suggested.replaceChildren(...searches.map(({ text }) => this.searchLink(text)));
  }

  // A link to another search: here, or in a new tab on the service's page.
  searchLink(q, ...around) {
    return make("a.search", { q, href: this.pageOf(q), dir: "auto" }, ...around, make("span.title", {}, q));
  }

  // -- what is shown ---------------------------------------------------------------------------

  // Replace the results, or add to them.
  show(message = [], items = [], add) {
    clearTimeout(this.waiting);
    this.shown = "";
    this.list.ariaBusy = "false";
    this.status.replaceChildren(...message);
    if (!add) {
      this.list.replaceChildren();
      this.panel.scrollTop = 0;
      this.form.scrollIntoView({ block: "nearest" });
    }
    this.list.append(...items);
    this.links.hidden = true;
    this.suggested.hidden = !message.length;
    this.filters.hidden = true;
  }

  showAnswer({ q, count, matches, hits, answer, corrected, dropped, excluded, page, size, facets }) {
    const { text } = this;
    const start = (page - 1) * size;
    const items = hits.map((hit, number) => hitItem(hit, start + number + 1, this, answer));
    const whole = matches?.all_words ?? count;
    const message = !count ? [make("b", {}, text("nothing", { q })), text("advice")]
      : whole && whole < count ? [text("all_words", { count: whole }), " · ", text("some_words", { count: count - whole })]
      : [text("results", { count })];
    const instead = () => {
      this.exact = true;
      this.again();
    };
    if (corrected) message.push(" · ", text("corrected", corrected), " ", this.button("instead", instead, corrected));
    if (dropped && count) message.push(" · ", text("dropped", { words: dropped.join(", ") }));
    if (excluded) message.push(" · ", text("excluded", { words: excluded.join(", ") }));
    // Between the posts with all words and the others.
    const first = hits.findIndex(({ missing }) => missing);
    if (first > 0) items.splice(first, 0, make("li.rule", {}, text("some_words", { count: count - whole })));
    if (answer) items.unshift(answerItem(answer, hits[0], this));
    this.show(message, items, page > 1);
    if (page === 1) {
      this.choose(this.list.querySelector(".card[href], .hit a[href]"));
      clearTimeout(this.settling);
      this.searched = { q, count };
      this.settling = setTimeout(() => {
        this.tellSearch();
        this.spoken.textContent = this.status.textContent;
      }, SETTLED_AFTER);
    }
    this.answered = q;
    this.page = page;
    // An answer has 50 pages at most.
    const last = start + hits.length >= count || !hits.length || page > 49;
    if (last && this.more.matches(":focus")) this.list.focus();
    this.more.hidden = last;
    this.all.href = this.pageOf(q);
    this.links.hidden = !count;
    this.showCounts(facets);
  }

  // Tells the page of a search: when the visitor pauses, or opens a hit.
  tellSearch() {
    if (this.searched) this.emit("search", this.searched);
    this.searched = undefined;
  }

  // The row that Enter opens while the box has the focus.
  choose(row) {
    this.best?.classList.remove("on");
    this.best = row;
    row?.classList.add("on");
  }

  showError({ status, message, seconds }, next) {
    const key = !navigator.onLine ? "offline" : status === 429 ? "limited" : "unavailable";
    this.emit("error", { q: this.input.value.trim(), status, message });
    const parts = [this.text(key, { seconds }), " "];
    // For who wrote the page: nothing that a reader can change.
    if (status === 400) console.error(message);
    else parts.push(this.button("retry", () => this.again(next)));
    this.show(parts, [], next);
    this.spoken.textContent = this.status.textContent;
  }

  // From frame to frame what is open over the page, where no header clips it, follows what it belongs to.
  place = () => {
    const { panel, form, host, menus } = this;
    if (panel.popover && host.isConnected) panel.togglePopover(!!host.shadowRoot.activeElement);
    const open = [[form, panel], ...menus].filter(([, popover]) => popover.matches(":popover-open"));
    for (const [anchor, popover] of open) putBeside(popover, anchor);
    cancelAnimationFrame(this.frame);
    if (open.length) this.frame = requestAnimationFrame(this.place);
  };

  // A filter: a button, and its choices in a popover below it.
  menu(name, facet) {
    const choices = make("div.choices", { name, facet, popover: "auto", tabIndex: -1, onbeforetoggle: () => requestAnimationFrame(this.place) });
    const button = make("button.menu", { name, type: "button", popoverTargetElement: choices }, this.text(name));
    return [button, choices];
  }

  toggle(name, value) {
    this.chosen[this.chosen.has(name, value) ? "delete" : "append"](name, value);
  }

  // What is chosen, and the counts by category and year, with the attribute `filters`. The choices that are
  // open stay as they are: they change the others only.
  showCounts(facets) {
    this.filters.hidden = !facets;
    if (!facets) return;
    this.chips.replaceChildren(...[...this.chosen].map(([name, value]) => {
      const onclick = () => {
        this.toggle(name, value);
        this.again();
      };
      return make("button.chip", { type: "button", ariaLabel: `${this.text("clear")}: ${value}`, onclick }, value);
    }));
    for (const [button, choices] of this.menus) {
      if (choices.matches(":popover-open")) continue;
      const { name, facet } = choices, counts = new Map(this.chosen.getAll(name).map((value) => [value, 0]));
      for (const { value, count } of facets[facet]) counts.set(value, count);
      button.hidden = !counts.size;
      choices.replaceChildren(...[...counts].map(([value, count]) => {
        const onchange = () => {
          this.toggle(name, value);
          this.search();
        };
        return make("label.choice", {}, make("input", { type: "checkbox", checked: this.chosen.has(name, value), onchange }), `${value} (${count})`);
      }));
    }
  }

  // -- searches of this device -----------------------------------------------------------------

  // The last searches, after others were put in their place.
  recent(searches) {
    try {
      if (this.attribute("recent") === "off") return [];
      if (searches) localStorage[RECENT] = JSON.stringify(searches);
      return JSON.parse(localStorage[RECENT]);
    } catch {
      return []; // none, or no storage
    }
  }

  remember() {
    this.recent([...new Set([this.input.value.trim(), ...this.recent()])].slice(0, 5));
  }

  // For an empty box: the last searches of this device, which are sent nowhere, what many search for, and
  // the newest posts.
  async showRecent() {
    const recent = this.recent();
    const forget = (q) => {
      this.recent(this.recent().filter((other) => other !== q));
      this.again();
    };
    const clear = () => {
      this.recent([]);
      this.again();
    };
    const searches = (name, queries, remove) => queries.map((q) => make("li.recent", {}, this.searchLink(q, icon(name)),
      remove && make("button.forget", { type: "button", ariaLabel: `${this.text("clear")}: ${q}`, onclick: () => remove(q) }, "×")));
    this.show([], searches("clock", recent, forget));
    this.choose();
    if (recent.length) this.status.append(this.text("recent"), " ", this.button("clear", clear));
    // Elsewhere it would push the page down.
    if (!this.dialog) return;
    this.start ??= request(this.service, "start", "").catch(() => ({}));
    const { popular = [], newest = [] } = await this.start;
    // Something was typed, or shown, meanwhile.
    if (this.input.value.trim() || !this.list.matches(":empty") && !this.list.querySelector(".recent") || this.list.querySelector(".label")) return;
    const label = (key, items) => items.length ? [make("li.label", {}, this.text(key)), ...items] : [];
    const posts = newest.slice(0, 4).map(({ title, url, pub_date, language }) =>
      make("li.newest", { dir: "auto" }, row(url, "a.link", icon("post"), make("b.title", language && { lang: language }, title), about([day(pub_date, this.lang)]))));
    this.list.append(...label("often", searches("search", popular.slice(0, 4))), ...label("newest", posts));
  }

  // With the attribute `query` the search is in the URL of the page.
  writeQuery(q) {
    const name = this.attribute("query"), url = new URL(location);
    if (!url.host || !name) return;
    for (const key of [...url.searchParams.keys()]) if (key === name || key.startsWith(`${name}-`)) url.searchParams.delete(key);
    if (q) {
      url.searchParams.set(name, q);
      for (const [filter, value] of this.chosen) url.searchParams.append(`${name}-${filter}`, value);
    }
    clearTimeout(this.writing);
    // Browsers limit how often a page may do it.
    this.writing = setTimeout(() => {
      if (url.pathname === location.pathname) history.replaceState(history.state, "", url);
    }, 300);
  }
}
