// Answers of the service as elements.

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

// A highlight of the service is escaped text with <mark> elements.
function marked(highlight) {
  return highlight.split(/<\/?mark>/).map((text, number) => {
    const plain = text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
    return number % 2 ? make("mark.mark", {}, plain) : plain;
  });
}

// A link, or the same without an address for anything but a web page.
function linkTo(url, name, ...children) {
  const href = url && webUrl(url);
  return make(name, href ? { href } : {}, ...children);
}

// A post with the sections and comments that match, as a list item.
function hitItem(hit, position, { text, lang, host }) {
  const { url, highlight, language, sections = [], comments = [] } = hit;
  const prose = language && { lang: language }; // its direction is that of the item
  const snippet = (content) => content && make("span.snippet", prose, ...marked(content));
  const image = host.hasAttribute("images") && hit.image && webUrl(hit.image);
  const facts = [day(hit.pub_date, lang), path(url), ...(hit.categories ?? [])];
  return make(
    "li.hit",
    { hit, position, dir: "auto" },
    linkTo(url, "a.link", image && make("img.image", { src: image, alt: "", loading: "lazy" }), make("b.title", prose, ...marked(highlight.title)), about(facts), snippet(highlight.text.join(" … "))),
    ...sections.map(({ heading, above = [], url, snippet: content }) =>
      linkTo(url, "a.link.section", make("span.title", prose, [...above, heading].join(" › ")), snippet(content))),
    // A comment names no language; most are in that of the post.
    ...comments.map((comment) =>
      linkTo(comment.url, "a.link.comment", snippet(comment.highlight.join(" … ")), about([text("comment"), comment.author]))),
  );
}

function about(facts) {
  return make("span.about", {}, facts.filter(Boolean).join(" · "));
}

// The day of a post in its own time zone, between marks that keep its direction from that of the title.
function day(stamp, lang) {
  return stamp && `\u2068${new Date(stamp.slice(0, 10)).toLocaleDateString(lang, { dateStyle: "medium", timeZone: "UTC" })}\u2069`;
}

// The path of a URL as a person reads it: 2015/06/cron.
function path(url) {
  try {
    return decodeURI(new URL(url, document.baseURI).pathname).replace(/^\/|(\/|\.html)$/g, "");
  } catch {}
}
