// The API of this server, from its OpenAPI description, with examples that are sent.

import { el, fill, freshId, shown } from "./dom.js";
import { get, headers } from "./api.js";

const place = document.getElementById("operations");

function resolve(api, schema) {
  return schema?.$ref ? resolve(api, schema.$ref.split("/").slice(1).reduce((at, key) => at[key], api)) : schema;
}

function exampleOf(api, schema) {
  const whole = resolve(api, schema);
  const pairs = Object.entries(whole?.properties ?? {}).filter(([, field]) => field.examples?.length);
  return Object.fromEntries(pairs.map(([key, field]) => [key, field.examples[0]]));
}

function operation(api, path, method, about, graph) {
  const parameters = about.parameters ?? [];
  const filled = path.replace("{graph}", encodeURIComponent(graph)).replace(/{(\w+)}/g, (_, key) => {
    const parameter = parameters.find((one) => one.in === "path" && one.name === key);
    return encodeURIComponent(parameter?.schema?.examples?.[0] ?? parameter?.examples?.[0] ?? "");
  });
  const search = parameters
    .filter((one) => one.in === "query" && (one.schema?.examples ?? one.examples))
    .map((one) => [one.name, (one.schema?.examples ?? one.examples)[0]]);
  const target = el("input", { type: "text", class: "question", "aria-label": `Address of ${about.summary}`, value: filled + (search.length ? `?${new URLSearchParams(search)}` : "") });
  const schema = about.requestBody?.content?.["application/json"]?.schema;
  const body = schema ? el("textarea", { class: "question", rows: 4, "aria-label": `Body of ${about.summary}` }) : null;
  if (body) body.value = JSON.stringify(exampleOf(api, schema), null, 1);
  const reply = el("pre", { tabindex: "0", hidden: true, "aria-label": `Reply of ${about.summary}` });
  const id = freshId("operation");
  return el(
    "section",
    { class: "card", "aria-labelledby": id },
    el("h2", { id }, about.summary ?? path),
    el("p", {}, el("code", {}, `${method.toUpperCase()} ${path}`)),
    el("p", { class: "quiet" }, about.description ?? ""),
    parameters.length
      ? el("ul", {}, parameters.map((one) => el("li", {}, el("code", {}, one.name), ` (${one.in}) ${one.description ?? one.schema?.description ?? ""}`)))
      : null,
    el("div", { class: "line" }, target, body, el("button", { type: "button", class: "main", onclick: () => send(method, target.value, body?.value, reply) }, "Send")),
    reply,
  );
}

async function send(method, address, body, reply) {
  reply.hidden = false;
  try {
    const response = await fetch(new URL(address.replace(/^\//, ""), location.href), { method: method.toUpperCase(), headers: headers({ "content-type": "application/json" }), body: body || undefined });
    const text = await response.text();
    let told = text;
    try {
      told = JSON.stringify(JSON.parse(text), null, 1);
    } catch {
      // Not JSON: as it is.
    }
    reply.textContent = `${response.status}\n${shown(told).replaceAll("\\u000a", "\n")}`;
  } catch (error) {
    reply.textContent = String(error);
  }
}

const [api, server] = await Promise.all([fetch("v1/openapi.json").then((response) => response.json()), get("graphs").catch(() => ({ graphs: [{ name: "films" }] }))]);
fill(
  place,
  Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, about]) => operation(api, path, method, about, server.graphs[0].name))),
);
