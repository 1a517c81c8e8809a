// The HTTP API: JSON in and out, problems as errors, events while an answer is made.

const KEY = "clew-token";

/** A refusal or failure that the server explains. */
class Problem extends Error {
  constructor(document) {
    super(document.detail || document.title || "The request failed");
    this.status = document.status;
    this.kind = document.type;
    this.request = document.instance;
  }
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function headers(more = {}) {
  const token = sessionStorage.getItem(KEY);
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

async function checked(response) {
  if (response.ok) return response;
  let document = { status: response.status, detail: `The server answered ${response.status}` };
  try {
    document = await response.json();
  } catch {
    // Not of this server: the status is all there is.
  }
  throw new Problem(document);
}

export async function get(path, query = {}, signal) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given).toString();
  const response = await fetch(`v1/${path}${search ? `?${search}` : ""}`, { headers: headers(), signal });
  return (await checked(response)).json();
}

async function send(path, body, signal, more = {}) {
  return checked(
    await fetch(`v1/${path}`, {
      method: "POST",
      headers: headers({ "content-type": "application/json", ...more }),
      body: JSON.stringify(body),
      signal,
    }),
  );
}

export async function post(path, body, signal) {
  return (await send(path, body, signal)).json();
}

/** Post, and hear events: `heard(name, data)` for each; resolves with the answer. */
export async function listen(path, body, heard, signal) {
  const response = await send(path, body, signal, { accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem({ detail: "The server ended the answer before it was whole" });
    left += value;
    const parts = left.split("\n\n");
    left = parts.pop();
    for (const part of parts) {
      const event = /^event: (.*)\ndata: (.*)$/s.exec(part);
      if (!event) continue;
      const data = JSON.parse(event[2]);
      if (event[1] === "answer") return data;
      if (event[1] === "problem") throw new Problem(data);
      heard(event[1], data);
    }
  }
}

/** Path of a graph's resource; names may hold anything. */
export function of(graph, ...parts) {
  return [graph, ...parts].map(encodeURIComponent).join("/");
}
