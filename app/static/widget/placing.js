// Defines <blog-search>, and places one for a script tag if the page has none. A page whose script
// replaces its <body> may run the script once more: the element is defined once, and a box is placed for
// every script tag.

// The last script tag; null for a module.
let script = document.currentScript;
// The elements in the page, also those in the shadow DOM of others.
const hosts = new Set();
// The element that was placed for a script tag.
let placed;

async function setUp(host) {
  const given = host.getAttribute("service") ?? script?.src;
  const service = given && webUrl(given);
  // The content of the element stays visible.
  if (!service) return explain();
  const language = languageOf(host);
  const messages = await messagesIn(language, service);
  const box = new SearchBox(host, service, messages);
  for (const name of ["open", "close", "leave", "followScheme"]) host[name] = () => box[name]();
  host.focus = host.open;
  host.toggle = () => host[box.dialog?.open ? "close" : "open"]();
}

function explain() {
  console.error("<blog-search> needs service, an http(s) URL.");
}

// Without an element in the page, one is put after the script tag; for a tag in the head a button in the
// corner of the window.
function place() {
  if (hosts.size) return;
  if (!script) return explain();
  // A router may put in another tag without running it.
  if (!script.isConnected) script = [...document.scripts].find((other) => other.src === script.src) ?? script;
  placed = document.createElement("blog-search");
  const inHead = script.closest("head");
  if (inHead) for (const name of ["variant", "floating"]) placed.setAttribute(name, "modal");
  for (const { name, value } of script.attributes)
    if (name.startsWith("data-")) placed.setAttribute(name.slice(5), value);
  if (inHead) document.body?.append(placed);
  else script.after(placed);
}

function openByShortcut(event) {
  const mod = event.ctrlKey || event.metaKey;
  const at = event.composedPath()[0];
  if (event.defaultPrevented || event.altKey || (mod && event.shiftKey) || !event.key) return;
  // A closed dialog keeps the focus until the next frame. Of a closed shadow root only its element is seen.
  const closed = at.localName?.includes("-") && !at.shadowRoot;
  const field = at.checkVisibility?.() && (at.isContentEditable || at.closest("input, textarea, select"));
  const own = [...hosts].includes(event.composedPath().find((element) => element.localName === "blog-search"));
  if ((closed || field) && !(own && mod)) return;
  // On a keyboard without Latin letters the place of the key counts.
  const key = /^[ -~]+$/.test(event.key) ? event.key : event.code.replace("Key", "").replace("Slash", "/");
  const pressed = (mod ? "mod+" : "") + key.toLowerCase();
  const host = [...hosts].find((host) => host.open && host.checkVisibility() && shortcuts(host).includes(pressed));
  if (!host) return;
  event.preventDefault();
  host.toggle();
}

function define() {
  customElements.define("blog-search", class extends HTMLElement {
    static place(tag) {
      script = tag ?? script;
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", place);
      else place();
    }
    connectedCallback() {
      hosts.add(this);
      if (this !== placed) placed?.remove();
      this.ready ??= setUp(this);
    }
    disconnectedCallback() {
      hosts.delete(this);
      this.leave?.();
      // Later, because the page may be about to move the element or to put in another.
      setTimeout(place);
    }
  });
  document.addEventListener("keydown", openByShortcut);
  // The switch between light and dark of a page, which may fade.
  addEventListener("click", () => setTimeout(() => hosts.forEach((host) => host.followScheme?.()), 500));
  // A router that shows another address keeps the element, with its dialog over the new page.
  addEventListener("popstate", () => hosts.forEach((host) => host.leave?.()));
}

if (!AbortSignal.any || !CSS.supports("color", "light-dark(red, red)"))
  console.error("<blog-search> needs a browser of 2024.");
else {
  if (!customElements.get("blog-search")) define();
  customElements.get("blog-search").place(script);
}
