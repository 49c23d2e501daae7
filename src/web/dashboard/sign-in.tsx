import { useEffect, useRef, useState } from "preact/hooks";
import { signIn } from "./renewal";

interface SignInProps {
  /** Whether the page had a token that has expired. */
  readonly hadSession: boolean;
  /** Whether this replaces the statistics, so that the heading takes the focus. */
  readonly replaces: boolean;
  /** Called when the page has a token. */
  readonly enter: () => void;
}

/** Shown if the page has no valid token. */
export function SignIn({ hadSession, replaces, enter }: SignInProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => void (replaces && heading.current?.focus()), []);
  return (
    <main class="notice">
      <h1 ref={heading} tabIndex={-1}>
        {hadSession ? "Your session has ended" : "Sign in to analytics"}
      </h1>
      <p>
        {hadSession
          ? "A session ends when the page is closed or asleep for 15 minutes, after 12 hours, or when its key is deactivated. "
          : "This page shows the conversations of an organization. "}
        Sign in with a SECRET key of the organization.
      </p>
      <KeyForm enter={enter} />
      <p>Or run this command on the server, and open the link that it prints:</p>
      <pre tabIndex={0}>
        <code>npm run analytics:link</code>
      </pre>
      <p>
        Programs read the link in GraphQL: <code>{"{ organization { analyticUrl } }"}</code>
      </p>
    </main>
  );
}

/** Signs in with a key, one request at a time. */
function useSignIn(enter: () => void) {
  const field = useRef<HTMLInputElement>(null);
  const [problem, complain] = useState<string>();
  const [waits, wait] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (waits) return;
    complain(undefined);
    wait(true);
    signIn(field.current!.value.trim()).then(enter, (error: Error) => {
      wait(false);
      complain(error.message);
      field.current?.focus();
    });
  };
  return { field, problem, waits, submit };
}

function KeyForm({ enter }: Pick<SignInProps, "enter">) {
  const { field, problem, waits, submit } = useSignIn(enter);
  return (
    <form class="key" onSubmit={submit}>
      <label>
        SECRET key
        <input
          ref={field}
          type="password"
          autocomplete="off"
          required
          placeholder="parley_sk_…"
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? "key-note" : "key-problem"}
        />
      </label>
      <button type="submit" class="main" aria-disabled={waits}>
        {waits ? "Signing in …" : "Sign in"}
      </button>
      {problem === undefined ? (
        <p id="key-note">The key is sent to this server once and is not stored.</p>
      ) : (
        <p class="problem" id="key-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
