const KEPT = "parley-analytics-token";

/**
 * The token of the link that was opened. It comes in the fragment, which no server sees, and is moved from there to
 * where only this tab finds it.
 */
export function token(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(KEPT);
}

export const forgetToken = () => sessionStorage.removeItem(KEPT);

/** Another link opened in the same tab changes the fragment alone. */
export const onNewLink = (act: () => void) => {
  const changed = () => location.hash.includes("token=") && act();
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
};
