// <blog-related>: posts like the one of the page. Its content, such as a heading, is shown above them.
// For a page that the service does not know, such as that of a 404, posts with the words of its address.

const TIMEOUT = 10_000; // milliseconds
const script = document.currentScript?.src;

// An absolute URL of the web; undefined for anything else, such as javascript:.
function webUrl(url) {
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    if (/^https?:$/.test(protocol)) return href;
  } catch {}
}

// An element whose class is its name as a ::part, too. Nothing in a post can become markup.
function make(name, props, ...children) {
  const [tag, part] = name.split(".");
  const element = Object.assign(document.createElement(tag), props);
  if (part) {
    element.className = part;
    element.part.add(part);
  }
  element.append(...children.filter(Boolean));
  return element;
}

class Related extends HTMLElement {
  // Without posts the element stays hidden, whatever the reason.
  async connectedCallback() {
    if (this.shadowRoot) return;
    const list = make("ul.list", {});
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.attachShadow({ mode: "open" }).append(make("slot", {}), list);
    this.shadowRoot.adoptedStyleSheets = [sheet];
    const service = webUrl(this.getAttribute("service") ?? script ?? "");
    if (!service) return console.error("<blog-related> needs service, an http(s) URL.");
    const canonical = document.querySelector("link[rel=canonical]")?.href;
    const url = webUrl(this.getAttribute("url") ?? canonical ?? location.href);
    const parameters = new URLSearchParams({ url, size: this.getAttribute("size") ?? 5 });
    if (this.hasAttribute("under")) parameters.set("under", this.getAttribute("under"));
    try {
      const options = { signal: AbortSignal.timeout(TIMEOUT) };
      const response = await fetch(new URL(`similar?${parameters}`, service), options);
      const posts = response.ok ? (await response.json()).posts : [];
      list.append(...posts.filter((post) => post.url && webUrl(post.url)).map(item));
    } catch {}
    this.hidden = !list.childElementCount;
  }
}

function item({ title, url, pub_date, categories = [], language }) {
  const lang = document.documentElement.lang.replace("_", "-") || navigator.language;
  const [known] = Intl.DateTimeFormat.supportedLocalesOf(/^[a-z]{2,3}(-[a-z\d]+)*$/i.test(lang) ? lang : []);
  const day = pub_date && new Date(pub_date.slice(0, 10)).toLocaleDateString(known, { dateStyle: "medium", timeZone: "UTC" });
  return make("li.item", {},
    make("a.link", { href: webUrl(url), dir: "auto", ...(language && { lang: language }) }, title),
    make("span.about", {}, [day, categories[0]].filter(Boolean).join(" · ")));
}

if (!customElements.get("blog-related")) customElements.define("blog-related", Related);
