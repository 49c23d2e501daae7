import type { Storage } from "@graphiql/toolkit";

/** Prefix of entries that earlier versions kept in local storage, keys included, readable by every page of this origin. */
const NAMESPACE = "parley-explorer:";

const ours = (storage: globalThis.Storage) =>
  Object.keys(storage).filter((name) => name.startsWith(NAMESPACE));

/** GraphiQL saves its state half a second after typing, even if it was cleared in the meantime. */
let isCleared = false;

/** Entries with the headers of tabs and of requests. */
const WITH_HEADERS = /:(tabState|queries|favorites)$/;

/** Typed headers may contain a credential; GraphiQL's history stores them whatever its settings say. */
const withoutHeaders = (name: string, value: string): string =>
  WITH_HEADERS.test(name)
    ? JSON.stringify(JSON.parse(value, (key, part: unknown) => (key === "headers" ? null : part)))
    : value;

/** Keeps GraphiQL's state until the browser tab is closed. */
export const forThisTab: Storage = {
  getItem: (name) => sessionStorage.getItem(NAMESPACE + name),
  setItem: (name, value) => {
    if (!isCleared) sessionStorage.setItem(NAMESPACE + name, withoutHeaders(name, value));
  },
  removeItem: (name) => sessionStorage.removeItem(NAMESPACE + name),
  clear: () => {
    isCleared = true;
    ours(sessionStorage).forEach((name) => sessionStorage.removeItem(name));
  },
  get length() {
    return ours(sessionStorage).length;
  },
};

/** Removes the entries of earlier versions. */
export const forgetFormer = (): void => ours(localStorage).forEach((name) => localStorage.removeItem(name));
