import { useLayoutEffect, useRef } from "preact/hooks";
import type { Conversation } from "../conversation";
import { say } from "../words";
import { Icon } from "./icons";

const MAX_CHARACTERS = 8_000;
const MAX_HEIGHT_PX = 144;

interface ComposerProps {
  readonly conversation: Conversation;
  /** The input gets the focus when this value changes, e.g. when the dialog opens. */
  readonly focused: unknown;
}

/** An input that grows with its text. */
function useField(text: string, focused: unknown) {
  const field = useRef<HTMLTextAreaElement>(null);
  const fit = () => {
    const { current } = field;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(current.scrollHeight, MAX_HEIGHT_PX)}px`;
  };
  useLayoutEffect(fit, [text]);
  useLayoutEffect(() => {
    // Elements in a hidden frame have no height, so the height is set again when the frame is shown.
    const resized = new ResizeObserver(fit);
    resized.observe(document.body);
    return () => resized.disconnect();
  }, []);
  useLayoutEffect(() => {
    // Only if the frame already has the focus: it must not take the focus from the page.
    if (focused && document.hasFocus()) field.current?.focus({ preventScroll: true });
  }, [focused]);
  return field;
}

/** Whether Enter sends the text, rather than confirming a word of an input method. */
const sends = (event: KeyboardEvent) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

export function Composer({ conversation, focused }: ComposerProps) {
  const { outbox } = conversation;
  const text = outbox.typed.value;
  const field = useField(text, focused);
  const submit = (event: Event) => {
    event.preventDefault();
    conversation.send(text);
    outbox.type("");
    field.current?.focus();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <textarea
        ref={field}
        rows={1}
        value={text}
        maxLength={MAX_CHARACTERS}
        aria-label={say("write")}
        placeholder={say("write")}
        dir={text === "" ? undefined : "auto"}
        enterkeyhint="send"
        onInput={(event) => outbox.type(event.currentTarget.value)}
        onKeyDown={(event) => sends(event) && submit(event)}
      />
      <button type="submit" class="send" aria-label={say("send")} aria-disabled={text.trim() === ""}>
        <Icon name="send" />
      </button>
    </form>
  );
}
