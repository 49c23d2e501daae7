const STORAGE_KEY = "parley-analytics-token";

/**
 * The token of the opened link. It arrives in the fragment, which is not sent to servers, and moves to the storage of
 * this tab.
 */
export function token(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    storeToken(token);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(STORAGE_KEY);
}

export const storeToken = (token: string) => sessionStorage.setItem(STORAGE_KEY, token);
export const forgetToken = () => sessionStorage.removeItem(STORAGE_KEY);

/** Opening another link in the same tab changes only the fragment. */
export const onNewLink = (act: () => void) => {
  const changed = () => location.hash.includes("token=") && act();
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
};
