import type { Storage } from "@graphiql/toolkit";

/** Prefix of entries that earlier versions kept in local storage, keys included, readable by every page of this origin. */
const NAMESPACE = "parley-explorer:";

const ours = (storage: globalThis.Storage) =>
  Object.keys(storage).filter((name) => name.startsWith(NAMESPACE));

/** GraphiQL saves its state half a second after typing, even if it was cleared in the meantime. */
let isCleared = false;

/** Keeps GraphiQL's state until the browser tab is closed. */
export const forThisTab: Storage = {
  getItem: (name) => sessionStorage.getItem(NAMESPACE + name),
  setItem: (name, value) => {
    if (!isCleared) sessionStorage.setItem(NAMESPACE + name, value);
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
