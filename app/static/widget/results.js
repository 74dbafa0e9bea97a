// Answers of the service as elements.

// The paths of icons, in a square of 24 by 24.
const ICONS = {
  search: "M11 4.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M16 16l4.5 4.5",
  post: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  section: "M9 4 7 20M17 4l-2 16M4 9h16M4 15h16",
  comment: "M4 6h16v10H9l-5 4z",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 7.5V12l3 2",
};
const LEAD = 40; // letters of a snippet before its first mark, so that a narrow screen shows the mark

// An element with a class, which is its name as a ::part, too: make("p.note", {title: "…"}, "text").
// Without innerHTML nothing in a post can become markup, and Trusted Types allow it.
function make(name, props, ...children) {
  const [tag, ...names] = name.split(".");
  const element = Object.assign(document.createElement(tag), props);
  if (names.length) {
    element.className = names.join(" ");
    element.part.add(...names);
  }
  element.append(...children.filter(Boolean));
  return element;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.part.add("icon");
  svg.ariaHidden = "true";
  svg.append(path);
  return svg;
}

// A highlight of the service is escaped text with <mark> elements.
function marked(highlight) {
  return highlight.split(/<\/?mark>/).map((text, number) => {
    const plain = text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
    return number % 2 ? make("mark.mark", {}, plain) : plain;
  });
}

// Fragments of a text, from shortly before the first mark on.
function fromMark(fragments) {
  const text = fragments.join(" … "), before = text.indexOf("<mark>");
  const start = before > LEAD ? text.indexOf(" ", before - LEAD) : -1;
  return start < 0 || start > before ? text : `… ${text.slice(start + 1)}`;
}

// A row that is a link, or the same without an address for anything but a web page.
function row(url, name, ...children) {
  const href = url && webUrl(url);
  return make(name, href ? { href } : {}, ...children, make("span.enter", { ariaHidden: "true" }, "↵"));
}

// A post with the sections and comments that match, as a list item; without the section that is the answer.
function hitItem(hit, position, { text, lang, host }, answer) {
  const { highlight, language, comments = [], missing, translations = [] } = hit;
  const sections = (hit.sections ?? []).filter(({ heading, url }) => heading !== answer?.heading || url !== answer.url);
  const prose = language && { lang: language }; // its direction is that of the item
  const snippet = (...fragments) => fragments.length > 0 && make("span.snippet", prose, ...marked(fromMark(fragments)));
  const image = host.hasAttribute("images") && hit.image && webUrl(hit.image);
  return make(
    "li.hit",
    { hit, position, dir: "auto" },
    row(hit.excerpt_url ?? hit.url, "a.link", icon("post"), make("b.title", prose, ...marked(highlight.title)),
      about([day(hit.pub_date, lang), hit.categories?.[0]]),
      image && make("img.image", { src: image, alt: "", loading: "lazy" }),
      !sections.length && snippet(...highlight.text),
      missing && make("span.missing", {}, text("missing", { words: missing.join(", ") }))),
    ...sections.map(({ above = [], url, snippet: content, highlight: title }) =>
      row(url, "a.link.section", icon("section"), make("span.title", prose, ...above.map((heading) => `${heading} › `), ...marked(title)), content && snippet(content))),
    // A comment names no language; most are in that of the post.
    ...comments.map((comment) =>
      row(comment.url, "a.link.comment", icon("comment"), make("span.title", {}, [text("comment"), comment.author].filter(Boolean).join(" · ")), snippet(...comment.highlight))),
    ...translations.map(({ language: lang, title, url }) =>
      row(url, "a.link.translation", icon("post"), make("span.title", { lang }, `${lang}: ${title}`))),
  );
}

// The section of the first hit that answers a question.
function answerItem({ heading, snippet, url }, hit, { text }) {
  const { title, language } = hit, prose = language && { lang: language };
  return make("li.answer", { hit, position: 1, dir: "auto" },
    row(url, "a.card", make("span.passage", prose, ...marked(snippet)), make("span.source", {}, text("read", { title: `${title} › ${heading}` }))));
}

// The luminance of any colour, from .05 to 1.05 (WCAG 1.4.3), with an element to try it on.
function lightOf(colour, { style }, computed) {
  // Mixed, it is written with red, green and blue from 0 to 1.
  style.color = `color-mix(in srgb,${colour},${colour})`;
  const [red, green, blue] = computed.color.match(/[\d.]+/g).map((value) => value ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
}

function about(facts) {
  return make("span.about", {}, facts.filter(Boolean).join(" · "));
}

// The day of a post in its own time zone, between marks that keep its direction from that of the title.
function day(stamp, lang) {
  return stamp && `\u2068${new Date(stamp.slice(0, 10)).toLocaleDateString(lang, { dateStyle: "medium", timeZone: "UTC" })}\u2069`;
}
