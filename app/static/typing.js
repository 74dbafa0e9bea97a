// Shared by the search page and the widget.

const SEARCHING_AFTER = 500; // milliseconds without an answer
const TIMEOUT = 10_000; // milliseconds

const limited = (...signals) => AbortSignal.any([...signals, AbortSignal.timeout(TIMEOUT)]);

// Seconds until a search may be sent again. A proxy may name a date, or hide the header from other origins.
function retryAfter({ headers }) {
  const given = headers.get("Retry-After") ?? 10;
  return Math.max(1, Math.ceil(Number(given) || (Date.parse(given) - Date.now()) / 1000) || 10);
}

// Calls `search` after a change: at once, then at most every 50 ms, as a held key repeats 30 times a second.
function throttled(search) {
  let timer, last = 0;
  const call = () => {
    last = Date.now();
    search();
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(call, last + 50 - Date.now());
  };
  return Object.assign(schedule, { cancel: () => clearTimeout(timer) });
}

// Whether an input method has taken the key. Safari has ended the composition already, with the key code 229.
const composing = ({ isComposing, keyCode }) => isComposing || keyCode === 229;

// Moves the focus with the arrow keys, round through box and links. A letter goes into the box.
function moveFocus(event, input, links) {
  const stops = [input, ...links], at = stops.indexOf(event.target);
  if (at < 0 || composing(event) || event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    stops.at((at + step) % stops.length).focus();
  } else if (at && /^(\S|Backspace)$/u.test(event.key)) input.focus();
}

// After Back WebKit resets a box with autocomplete=off, to its default.
function keepTyped(input) {
  addEventListener("pagehide", () => { input.defaultValue = input.value; });
}

// Tells the service which hit of which search was opened: no cookie, and nothing to wait for.
function countClick(url, q, oid) {
  navigator.sendBeacon(url, new URLSearchParams({ q, oid }));
}
