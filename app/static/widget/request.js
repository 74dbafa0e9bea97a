// What the widget gets from the service: answers, and messages in the language of the page.

// An absolute URL of the web; undefined for anything else, such as javascript:.
function webUrl(url) {
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    if (/^https?:$/.test(protocol)) return href;
  } catch {}
}

// The language of an element, as the page has it (pt_BR, too), else that of the browser.
function languageOf(element) {
  const tag = (element.closest("[lang]")?.lang || document.documentElement.lang).replace("_", "-");
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? navigator.language;
  } catch {
    return navigator.language;
  }
}

// The JSON at a path of the service. Of posts in several languages those in that of the page come first.
async function request(service, path, parameters, ...signals) {
  const headers = { "Accept-Language": [languageOf(document.documentElement), ...navigator.languages].slice(0, 6).join() };
  const response = await fetch(new URL(`${path}?${parameters}`, service), { headers, signal: limited(...signals) });
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw { status: response.status, message: body.error?.message, seconds: retryAfter(response) };
}

const translations = {};

// The messages in a language. The script has those in the language of the blog, which are used, too,
// where others cannot be loaded.
function messagesIn(language, service) {
  if (language.split("-")[0] === BUILT_IN.lang) return BUILT_IN;
  const parameters = new URLSearchParams({ lang: language });
  return (translations[language] ??= request(service, "messages", parameters).catch(() => BUILT_IN));
}

// The message for a key: an attribute of the element, or the text of its language. `count` also chooses
// the plural form.
function messageReader(host, messages) {
  const { lang } = messages;
  return (key, values = {}) => {
    const message = host.getAttribute(`text-${key}`) ?? messages[key];
    const text = message[new Intl.PluralRules(lang).select(values.count)] ?? message.other ?? message;
    return text.replace(/\{(\w+)\}/g, (all, name) => (values[name] ?? all).toLocaleString(lang));
  };
}
