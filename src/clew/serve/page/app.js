// The page: graphs, views, links that keep what was asked.

import { get, setToken } from "./api.js";
import { askView } from "./ask.js";
import { browseView } from "./browse.js";
import { compareView } from "./compare.js";
import { address, el, fill, form, shown } from "./dom.js";
import { queryView } from "./query.js";
import { verifyView } from "./verify.js";
import { vocabularyView } from "./vocabulary.js";

const VIEWS = {
  ask: ["Ask", askView],
  verify: ["Verify", verifyView],
  browse: ["Browse", browseView],
  query: ["Query", queryView],
  vocabulary: ["Vocabulary", vocabularyView],
  compare: ["Compare", compareView],
};
const THEME = "clew-theme";

const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const chooser = document.getElementById("graph");
let server = null;
let open = null;
let written = "";

/** What the address says: `#/films/ask?q=…`. */
function place() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [graph, view] = path.split("/").map(decodeURIComponent);
  const names = server.graphs.map((one) => one.name);
  return { graph: names.includes(graph) ? graph : names[0], view: view in VIEWS ? view : "ask", query: new URLSearchParams(search) };
}

function render() {
  const { graph, view, query } = place();
  open?.close();
  fill(
    tabs,
    Object.entries(VIEWS).map(([key, [title]]) => el("a", { href: address(graph, key), "aria-current": key === view ? "page" : null }, title)),
  );
  fill(chooser, server.graphs.map((one) => el("option", { value: one.name, selected: one.name === graph }, shown(one.name))));
  document.title = `${VIEWS[view][0]} ${graph} – Clew`;
  document.getElementById("title").textContent = document.title;
  const go = (to, wanted, { replace = false } = {}) => {
    written = address(graph, to, wanted);
    if (location.hash !== written) history[replace ? "replaceState" : "pushState"](null, "", written);
  };
  open = VIEWS[view][1]({ graph, server, query, go, failed });
  fill(main, open.view);
  if (!query.get("q") && document.activeElement !== chooser) open.focus();
}

/** A failure in the server's words; where a token lacks, a field for it. */
function failed(error) {
  const box = el("section", { class: "card failed", role: "alert" }, el("h2", {}, error.status === 401 ? "A token is needed" : "That did not work"), el("p", {}, el("bdi", { dir: "auto" }, shown(error.message))));
  if (error.status === 401) {
    const field = el("input", { type: "password", "aria-label": "Token", autocomplete: "off" });
    box.append(
      form({}, () => {
        setToken(field.value.trim());
        start();
      }, el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Use it"))),
    );
  }
  if (error.request) box.append(el("p", { class: "quiet" }, shown(error.request)));
  return box;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("clew-theme"));
}

document.getElementById("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = dark ? "light" : "dark";
  localStorage.setItem(THEME, theme);
  setTheme(theme);
});
chooser.addEventListener("change", () => {
  location.hash = address(chooser.value, place().view);
});
window.addEventListener("hashchange", render);
window.addEventListener("popstate", () => {
  if (location.hash !== written) render();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    open?.focus();
  }
});

async function start() {
  setTheme(localStorage.getItem(THEME));
  try {
    server = await get("graphs");
  } catch (error) {
    fill(main, failed(error));
    return;
  }
  document.getElementById("about").textContent = server.graphs.map((one) => one.note && `${one.name}: ${one.note}`).filter(Boolean).join("; ");
  render();
}

start();
