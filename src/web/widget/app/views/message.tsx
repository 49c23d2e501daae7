import { Markdown } from "../markdown";
import { say } from "../words";

/** What stands in the log: stored, or on its way. */
export interface Shown {
  /** The same before and after it is stored, so that it is announced once. */
  readonly key: string;
  readonly role: string;
  readonly content: string;
  readonly state: "stored" | "pending" | "refused" | "failed";
}

interface BubbleProps {
  readonly message: Shown;
  readonly speaker: string;
  /** Only of what was not sent, or not answered. */
  readonly retry?: () => void;
}

export function MessageBubble({ message: { role, content, state }, speaker, retry }: BubbleProps) {
  const own = role === "USER";
  return (
    <div class={`message ${own ? "own" : "theirs"} ${state}`}>
      <span class="hidden">{own ? say("you") : speaker}: </span>
      <div class="bubble" dir="auto">
        {own ? content : <Markdown text={content} />}
      </div>
      {retry && (
        <p class="note">
          {state === "refused" && say("notSent")}{" "}
          <button type="button" class="link" onClick={retry}>
            {say("again")}
          </button>
        </p>
      )}
    </div>
  );
}

/** What the assistant does; the status beside it says the same to those who don't see it. */
export const Dots = ({ label }: { label: string }) => (
  <div class="message theirs" aria-hidden="true">
    <div class="bubble dots">
      <i />
      <i />
      <i />
      {label && <span>{label}</span>}
    </div>
  </div>
);
