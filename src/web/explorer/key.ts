/** Session storage belongs to one browser tab, and ends with it. No other storage may hold a key. */
const ENTRY = "parley:key";
const CHANGED = "parley-key-changed";

/** Tells the other tabs to forget their keys. It never carries a key. */
const channel = new BroadcastChannel("parley-key");
channel.addEventListener("message", () => setKey(""));

/** The API key that the playground and the REST documentation share; empty without one. */
export const currentKey = (): string => sessionStorage.getItem(ENTRY) ?? "";

export function setKey(key: string): void {
  if (key === currentKey()) return;
  if (key) sessionStorage.setItem(ENTRY, key);
  else sessionStorage.removeItem(ENTRY);
  dispatchEvent(new Event(CHANGED));
}

/** Removes the key from both pages, in every tab of this browser. */
export function forgetKey(): void {
  setKey("");
  channel.postMessage("forget");
}

export const onKeyChange = (listener: () => void): void => addEventListener(CHANGED, listener);
