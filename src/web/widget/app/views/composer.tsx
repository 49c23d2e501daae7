import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { say } from "../words";
import { Icon } from "./icons";

const LONGEST = 8_000;
const TALLEST = 144;

interface ComposerProps {
  readonly send: (text: string) => void;
  /** Changes when the visitor shall be here, such as when the dialog opens. */
  readonly focused: unknown;
}

/** A field that grows with what is written. */
function useField(text: string, focused: unknown) {
  const field = useRef<HTMLTextAreaElement>(null);
  const fit = () => {
    const { current } = field;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(current.scrollHeight, TALLEST)}px`;
  };
  useLayoutEffect(fit, [text]);
  useLayoutEffect(() => {
    // In a frame that is not shown yet nothing has a height.
    const resized = new ResizeObserver(fit);
    resized.observe(document.body);
    return () => resized.disconnect();
  }, []);
  useLayoutEffect(() => {
    // Only where the visitor is in here already: the page's own focus is not to be taken.
    if (focused && document.hasFocus()) field.current?.focus({ preventScroll: true });
  }, [focused]);
  return field;
}

/** Enter that chooses a word of an input method sends nothing. */
const sends = (event: KeyboardEvent) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

export function Composer({ send, focused }: ComposerProps) {
  const [text, setText] = useState("");
  const field = useField(text, focused);
  const submit = (event: Event) => {
    event.preventDefault();
    send(text);
    setText("");
    field.current?.focus();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <textarea
        ref={field}
        rows={1}
        value={text}
        maxLength={LONGEST}
        aria-label={say("write")}
        placeholder={say("write")}
        dir={text === "" ? undefined : "auto"}
        enterkeyhint="send"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => sends(event) && submit(event)}
      />
      <button type="submit" class="send" aria-label={say("send")} aria-disabled={text.trim() === ""}>
        <Icon name="send" />
      </button>
    </form>
  );
}
