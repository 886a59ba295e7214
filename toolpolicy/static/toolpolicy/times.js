// Shows times in the viewer's own zone. UTC, which the server writes, stays beside them; of the hours of a chart, as
// the title.
const parts = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

function piece(name, text) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}

function show(time) {
  const at = new Date(time.dateTime);
  if (time.title || Number.isNaN(at.valueOf()) || at.getTimezoneOffset() === 0) return;
  const is = Object.fromEntries(parts.formatToParts(at).map((part) => [part.type, part.value]));
  const utc = time.textContent;
  const day = `${is.year}-${is.month}-${is.day}`;
  const clock = `${is.hour}:${is.minute}` + (/:\d\d:\d\d/.test(utc) ? `:${is.second}` : "");
  time.title = "clock" in time.dataset ? `${utc} UTC` : utc;
  if ("clock" in time.dataset) return time.replaceChildren(clock);
  time.className = "";
  const beside = utc.startsWith(day) ? utc.slice(day.length + 1) : utc;
  time.replaceChildren(piece("tp-num", `${day} ${clock} ${is.timeZoneName}`), " ", piece("tp-num is-dim", `(${beside})`));
}

const all = (place) => place.querySelectorAll("time[datetime]").forEach(show);
all(document);
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) if (node.nodeType === 1) all(node);
}).observe(document.body, { childList: true, subtree: true });
