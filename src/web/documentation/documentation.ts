import MiniSearch from "minisearch";
import { copyText } from "./copy-text";
import { excerpt, rank, type Found } from "./ranking";
import { SEARCH_OPTIONS, type Section } from "./search-options.mjs";

const MAX_RESULTS = 8;

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const query = element<HTMLInputElement>("searchField");
const results = element("searchResults");
const menu = element("menuButton");

let index: Promise<MiniSearch<Section>> | undefined;

/** Loads the index when somebody begins to search. */
function load(): Promise<MiniSearch<Section>> {
  index ??= fetch(new URL("search.json", import.meta.url))
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSON<Section>(text, SEARCH_OPTIONS))
    .catch((error: unknown) => {
      index = undefined;
      throw error;
    });
  return index;
}

function entry(result: Found, wanted: string): HTMLElement {
  const link = document.createElement("a");
  link.href = String(result.id);
  const title = document.createElement("strong");
  title.textContent = [...new Set([result.page, result.heading, result.title])]
    .filter((part) => part !== "")
    .join(" › ");
  const text = document.createElement("span");
  text.textContent = excerpt(result.text, result, wanted);
  link.append(title, text);
  return link;
}

/** Shows what is found. @returns whether it is still wanted by then */
async function search(): Promise<boolean> {
  const wanted = query.value.trim();
  results.hidden = wanted === "";
  if (results.hidden) return false;
  const slow = setTimeout(() => (results.textContent = "Searching …"));
  try {
    const found = rank(await load(), wanted).slice(0, MAX_RESULTS);
    if (query.value.trim() !== wanted) return false;
    if (found.length === 0) results.textContent = "Nothing found.";
    else results.replaceChildren(...found.map((result) => entry(result, wanted)));
  } catch {
    results.textContent = "Search is not available right now.";
  } finally {
    clearTimeout(slow);
  }
  return true;
}

async function openFirst(): Promise<void> {
  if (await search()) results.querySelector("a")?.click();
}

function showMenu(isOpen: boolean): void {
  document.body.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
}

/** Closes the results or the menu, and returns the focus to what has opened them. */
function close(): void {
  if (results.contains(document.activeElement)) query.focus();
  results.hidden = true;
  if (!document.body.classList.contains("open")) return;
  showMenu(false);
  menu.focus();
}

query.addEventListener("input", () => void search());
query.addEventListener("focus", () => void search());
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape") close();
  if (key === "Enter" && target === query) void openFirst();
});
query.closest("search")!.addEventListener("focusout", ({ currentTarget, relatedTarget }) => {
  const isElsewhere = relatedTarget instanceof Node && !(currentTarget as Element).contains(relatedTarget);
  if (isElsewhere) results.hidden = true;
});
document.addEventListener("click", ({ target }) => {
  if (!(target as Element).closest("search") || (target as Element).closest("#searchResults a"))
    results.hidden = true;
});
menu.addEventListener("click", () => showMenu(!document.body.classList.contains("open")));

/** Address of the service in examples for clients. A proxy's configuration has it too, as the address of its upstream. */
const EXAMPLE = "127.0.0.1:4000";
const CLIENT_CODE = "code:not(.language-nginx, .language-caddyfile, .language-ini)";

/** Names the server that shows this page, so that examples work as they are. */
function nameServer(code: Node): void {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    text.data = text.data
      .replaceAll(`http://${EXAMPLE}`, location.origin)
      .replaceAll(`ws://${EXAMPLE}`, location.origin.replace("http", "ws"));
  }
}

document.querySelectorAll(CLIENT_CODE).forEach(nameServer);
for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const isCopied = await copyText(block.querySelector("code")!);
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}
