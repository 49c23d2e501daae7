import { ExpiredTokenError, graphql, graphqlByKey } from "./api";
import { ISSUE_ANALYTICS_TOKEN, type AnalyticsToken } from "./operations.generated";
import { storeToken } from "./session";

const RETRY_MS = 20_000;
/** The token is renewed when this share of its life has passed. */
const RENEWAL_SHARE = 2 / 3;

/** Signs in with a SECRET key, which is sent once and not stored. @throws Error with a sentence for the viewer */
export async function signIn(key: string): Promise<void> {
  const { issueAnalyticsToken } = await graphqlByKey(key, ISSUE_ANALYTICS_TOKEN, {});
  storeToken(issueAnalyticsToken.token);
}

/** Renews the token at once and then before it expires. @returns a function that stops this */
export function keepSignedIn(expire: () => void): () => void {
  let timer = 0;
  let dueAt = 0;
  let hasEnded = false;
  const wait = (ms: number) => {
    clearTimeout(timer);
    dueAt = Date.now() + ms;
    timer = setTimeout(() => void renew(), ms);
  };
  const renew = async () => {
    wait(RETRY_MS);
    try {
      const { issueAnalyticsToken: issued } = await graphql(ISSUE_ANALYTICS_TOKEN, {});
      if (hasEnded) return;
      storeToken(issued.token);
      wait(pauseOf(issued));
    } catch (error) {
      if (error instanceof ExpiredTokenError && !hasEnded) expire();
    }
  };
  // Timers stop while a computer sleeps.
  const wake = () => document.visibilityState === "visible" && Date.now() >= dueAt && void renew();
  const events = ["visibilitychange", "focus"] as const;
  for (const name of events) addEventListener(name, wake, true);
  void renew();
  return () => {
    hasEnded = true;
    clearTimeout(timer);
    for (const name of events) removeEventListener(name, wake, true);
  };
}

/**
 * Time until the next renewal. The last token of a session cannot be renewed: the attempt after its expiry ends the
 * session.
 */
function pauseOf({ expiresAt, expiresIn, renewableUntil }: AnalyticsToken): number {
  const isLast = expiresAt >= renewableUntil;
  return (isLast ? expiresIn + 1 : expiresIn * RENEWAL_SHARE) * 1_000;
}
