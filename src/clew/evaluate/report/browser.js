(() => {
  const data = JSON.parse(document.getElementById("questions").textContent);
  const list = document.getElementById("list");
  if (!list) return;
  const PAGE = 40;
  let page = 0;
  const make = (tag, text, style) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (style) node.className = style;
    return node;
  };
  const filters = {};
  for (const name of ["run", "part", "method", "state", "error"]) {
    const select = document.getElementById("f-" + name);
    const values = [...new Set(data.map((d) => d[name]).filter((v) => v))];
    if (values.length < 2 && name !== "state") { select.remove(); continue; }
    select.append(new Option({ run: "all runs", part: "all parts", method: "all methods", state: "all outcomes", error: "any step of error" }[name], ""));
    for (const value of values) select.append(new Option(value, value));
    select.addEventListener("change", () => { page = 0; show(); });
    filters[name] = select;
  }
  const search = document.getElementById("f-text");
  search.addEventListener("input", () => { page = 0; show(); });
  const triple = ([h, r, t]) => h + " ─" + r + "→ " + t;
  const field = (body, title, ...nodes) => {
    body.append(make("dt", title));
    const dd = make("dd");
    dd.append(...nodes);
    body.append(dd);
  };
  const lines = (texts, style) => texts.map((text) => make("div", text, style));
  const fill = (d, body) => {
    field(body, "gold", d.gold.length ? d.gold.join(" · ") : "none: the graph cannot answer it");
    if (d.answers.length) field(body, "answer", ...d.answers.map((a, i) => {
      const span = make("span", a, d.right[i] ? "right" : "wrong");
      const both = make("span"); both.append(span, i + 1 < d.answers.length ? " · " : ""); return both; }));
    if (d.text) field(body, "answer", d.text);
    if (d.abstained) field(body, "abstained", d.abstained.reason + ": " + d.abstained.detail);
    if (d.failure) field(body, "failed", d.failure);
    if (d.citations.length) field(body, "evidence", ...d.citations.flatMap(([a, ts]) => lines([a + ":  " + ts.map(triple).join("   ")], "path")), ...(d.more ? [make("div", "… and " + d.more + " more", "soft")] : []));
    if (d.pattern) field(body, "pattern", ...lines(d.pattern.map(triple), "path"));
    if (d.error) field(body, "went wrong at", d.error);
    const judged = Object.entries(d.judged);
    if (judged.length) field(body, "judged", judged.map(([j, v]) => j + ": " + (v || "no verdict")).join(", "));
    field(body, "scores", Object.entries(d.scores).map(([k, v]) => k + " " + v).join(", "));
    field(body, "milliseconds", Object.entries(d.ms).map(([k, v]) => k + " " + v).join(", "));
    for (const [name, detail] of d.steps) field(body, "step: " + name, make("pre", detail));
    if (d.query) field(body, "gold query", make("pre", d.query));
    field(body, "id", d.id + (d.kind ? "  (" + d.kind + ")" : ""));
  };
  const show = () => {
    const words = search.value.toLowerCase();
    const hits = data.filter((d) => Object.entries(filters).every(([n, s]) => !s.value || d[n] === s.value)
      && (!words || (d.q + " " + d.id + " " + d.kind).toLowerCase().includes(words)));
    const pages = Math.max(1, Math.ceil(hits.length / PAGE));
    page = Math.min(page, pages - 1);
    list.replaceChildren(...hits.slice(page * PAGE, (page + 1) * PAGE).map((d) => {
      const details = make("details"), summary = make("summary"), body = make("dl", undefined, "body");
      summary.append(make("span", d.state, "state " + d.state), make("span", d.q, "q"), make("span", d.method + " · " + d.part, "soft"));
      details.append(summary, body);
      details.addEventListener("toggle", () => { if (details.open && !body.childElementCount) fill(d, body); });
      return details;
    }));
    document.getElementById("count").textContent = hits.length + " of " + data.length + " questions, page " + (page + 1) + " of " + pages;
  };
  document.getElementById("before").addEventListener("click", () => { page = Math.max(0, page - 1); show(); });
  document.getElementById("after").addEventListener("click", () => { page += 1; show(); });
  show();
})();
