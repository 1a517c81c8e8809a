// A list of any length: only the rows that are seen exist. Rows have one height.

import { el, fill } from "./dom.js";

const ROW = 36;
const AROUND = 8;

/**
 * A listbox of `items`, of at most `rows` rows in height. `draw(item, index)` fills a row, `chosen(item, index)` hears
 * of a choice by click or keyboard.
 */
export function longList(items, { draw, chosen, label, rows = 12 }) {
  let at = 0;
  const inner = el("div", { class: "rows", role: "presentation" });
  const box = el("div", { class: "long-list", role: "listbox", tabindex: "0", "aria-label": label }, inner);
  box.style.height = `${Math.min(rows, items.length) * ROW + 2}px`;
  inner.style.height = `${items.length * ROW}px`;
  const id = (index) => `${box.dataset.id}-${index}`;
  box.dataset.id = `list-${Math.random().toString(36).slice(2)}`;

  function drawRows() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - AROUND);
    const last = Math.min(items.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + AROUND);
    const made = [];
    for (let index = first; index < last; index += 1) {
      const row = el(
        "div",
        {
          class: index === at ? "row chosen" : "row",
          role: "option",
          id: id(index),
          "aria-selected": String(index === at),
          "aria-setsize": items.length,
          "aria-posinset": index + 1,
          onclick: () => choose(index),
        },
        draw(items[index], index),
      );
      row.style.transform = `translateY(${index * ROW}px)`;
      made.push(row);
    }
    fill(inner, made);
    box.setAttribute("aria-activedescendant", id(at));
  }

  function choose(index) {
    at = Math.max(0, Math.min(items.length - 1, index));
    if (at * ROW < box.scrollTop) box.scrollTop = at * ROW;
    else if ((at + 1) * ROW > box.scrollTop + box.clientHeight) box.scrollTop = (at + 1) * ROW - box.clientHeight;
    drawRows();
    chosen(items[at], at);
  }

  box.addEventListener("scroll", drawRows, { passive: true });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: items.length - 1 };
    if (event.key in to) {
      event.preventDefault();
      choose(to[event.key]);
    }
  });
  new ResizeObserver(drawRows).observe(box);
  drawRows();
  return box;
}
