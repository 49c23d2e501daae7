/** Shown if the page has no valid token. @param hadOne whether it had one that has expired */
export const Ended = ({ hadOne }: { hadOne: boolean }) => (
  <main class="notice">
    <h1>{hadOne ? "This link has expired" : "You need a link to view analytics"}</h1>
    <p>
      {hadOne
        ? "A link to the analytics page works for 15 minutes."
        : "The page shows data of an organization. The link contains a token that gives access."}{" "}
      Get a new one with a SECRET key of the organization:
    </p>
    <pre tabIndex={0}>
      <code>{`curl -H "X-API-Key: $KEY" ${location.origin}/rest/v1/organization`}</code>
    </pre>
    <p>
      The link is the field <code>analyticUrl</code> of the response. With GraphQL:{" "}
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

/** Placeholder of the same size as the content, so that the layout does not shift. */
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
        : "Live conversations count, too. Choose a longer period, or start a chat, a call or an SMS conversation."}
    </p>
  </section>
);
