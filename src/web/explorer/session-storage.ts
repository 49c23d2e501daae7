import type { Storage } from "@graphiql/toolkit";

/** Where versions before kept what was typed, keys among it: readable for every page of this origin, for ever. */
const NAMESPACE = "parley-explorer:";

const ours = (storage: globalThis.Storage) =>
  Object.keys(storage).filter((name) => name.startsWith(NAMESPACE));

/** GraphiQL writes what it holds half a second after it was typed, also when it was cleared meanwhile. */
let isCleared = false;

/** Keeps what is typed, keys among it, until the tab of the browser is closed. */
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

/** Removes what versions before have left for every page of this origin. */
export const forgetFormer = (): void => ours(localStorage).forEach((name) => localStorage.removeItem(name));
