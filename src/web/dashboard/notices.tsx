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
