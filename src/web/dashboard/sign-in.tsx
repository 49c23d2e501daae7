import { useState } from "preact/hooks";
import { signIn } from "./renewal";

interface SignInProps {
  /** Whether the page had a token that has expired. */
  readonly hadSession: boolean;
  /** Called when the page has a token. */
  readonly enter: () => void;
}

/** Shown if the page has no valid token. */
export const SignIn = ({ hadSession, enter }: SignInProps) => (
  <main class="notice">
    <h1>{hadSession ? "Your session has ended" : "Sign in to analytics"}</h1>
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

function KeyForm({ enter }: Pick<SignInProps, "enter">) {
  const [key, type] = useState("");
  const [problem, complain] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    complain(undefined);
    signIn(key.trim()).then(enter, (error: Error) => complain(error.message));
  };
  return (
    <form class="key" onSubmit={submit}>
      <label>
        SECRET key
        <input
          type="password"
          autocomplete="off"
          required
          placeholder="parley_sk_…"
          value={key}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? "key-note" : "key-problem"}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
      </label>
      <button type="submit" class="main">
        Sign in
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
