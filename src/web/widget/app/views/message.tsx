import { Markdown } from "../markdown";
import { say } from "../words";

/** A message in the log. */
export interface DisplayedMessage {
  /** The same before and after the message is stored, so that screen readers announce it once. */
  readonly key: string;
  readonly role: string;
  readonly content: string;
  readonly state: "stored" | "pending" | "refused" | "failed";
  /** Whether the message was looked up without a model. */
  readonly local?: boolean;
}

interface BubbleProps {
  readonly message: DisplayedMessage;
  readonly speaker: string;
  /** Set if the message was not sent or not answered. */
  readonly retry?: () => void;
}

export function MessageBubble({ message: { role, content, state, local }, speaker, retry }: BubbleProps) {
  const own = role === "USER";
  return (
    <div class={`message ${own ? "own" : "theirs"} ${state}`}>
      <span class="hidden">{own ? say("you") : speaker}: </span>
      <div class="bubble" dir="auto">
        {own ? content : <Markdown text={content} />}
      </div>
      {local && <p class="origin">{say("local")}</p>}
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

/** The assistant's activity; screen readers use the status element instead. */
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
