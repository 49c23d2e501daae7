/** There is no token, or it has ended. */
export const Ended = ({ hadOne }: { hadOne: boolean }) => (
  <main class="notice">
    <h1>{hadOne ? "This link has expired" : "Open this page by its link"}</h1>
    <p>
      {hadOne
        ? "A link to the analytics page works for 15 minutes."
        : "The page shows what belongs to an organization, so it is opened by a link with a token in it."}{" "}
      Get a new one with a SECRET key of the organization:
    </p>
    <pre tabIndex={0}>
      <code>{`curl -H "X-API-Key: $KEY" ${location.origin}/rest/v1/organization`}</code>
    </pre>
    <p>
      The answer’s <code>analyticUrl</code> is the link. GraphQL gives the same:{" "}
      <code>{"{ organization { analyticUrl } }"}</code>
    </p>
  </main>
);

export const Failed = ({ message, again }: { message: string; again: () => void }) => (
  <div class="failure" role="alert">
    <p>{message}</p>
    <button type="button" onClick={again}>
      Try again
    </button>
  </div>
);

/** As large as what is to come, so that nothing jumps. */
export const Waiting = () => (
  <div class="waiting" role="status">
    <span class="unseen">Loading …</span>
    <div class="tiles">
      {Array.from({ length: 7 }, (_, place) => (
        <div class="tile" key={place} />
      ))}
    </div>
    <div class="card wide" />
  </div>
);

export const Nothing = ({ filtered }: { filtered: boolean }) => (
  <section class="card nothing" aria-labelledby="nothing">
    <h2 id="nothing">No conversations {filtered ? "like these " : ""}in this period</h2>
    <p>
      {filtered
        ? "Choose another period, all assistants or all channels."
        : "Conversations are counted from their first moment on. Choose a longer period, or start one: by a chat, a call or a text."}
    </p>
  </section>
);
