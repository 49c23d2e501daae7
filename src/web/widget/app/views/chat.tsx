import type { Application } from "../application";
import type { Conversation } from "../conversation";
import { Markdown } from "../markdown";
import { say } from "../words";
import { Composer } from "./composer";
import { Icon } from "./icons";
import { Dots, MessageBubble, type DisplayedMessage } from "./message";
import { usePinned } from "./use-pinned";

const VISIBLE_ROLES = ["USER", "ASSISTANT"];

/** Text for the assistant's current activity. */
function activityOf({ conversation, held }: Application): string {
  const { awaiting, activity, draft } = conversation;
  if (!awaiting.value || held.value) return "";
  const name = activity.value;
  if (draft.value !== "" || name === "speaking") return say("writing");
  return name === "" || name === "thinking" ? say("thinking") : say("using", { name });
}

/** The messages to show. The greeting is shown before the chat starts; the chat's first message then replaces it. */
function displayedMessages({ conversation, widget }: Application): readonly DisplayedMessage[] {
  const { chat, messages, outbox } = conversation;
  const greeting = chat.value ? null : widget.value?.greeting;
  const first: DisplayedMessage[] = greeting
    ? [{ key: "first", role: "ASSISTANT", content: greeting, state: "stored" }]
    : [];
  const visible = messages.value.filter(({ role }) => VISIBLE_ROLES.includes(role));
  const stored = visible.map(({ id, clientId, role, content, failed, local }, index): DisplayedMessage => {
    const key = index === 0 && role === "ASSISTANT" ? "first" : (clientId ?? id);
    return { key, role, content, state: failed ? "failed" : "stored", local };
  });
  const unsent = outbox.items.value.map(({ clientId, content, refused }): DisplayedMessage => {
    return { key: clientId, role: "USER", content, state: refused ? "refused" : "pending" };
  });
  return [...first, ...stored, ...unsent];
}

/** Retries the message if it was not sent or not answered; undefined otherwise. */
function retryOf({ conversation }: Application, shown: readonly DisplayedMessage[], index: number) {
  const { key, state } = shown[index]!;
  if (state === "refused") return () => conversation.retry(key);
  const asked = shown.filter(({ role }) => role === "USER").at(-1)?.content;
  if (state !== "failed" || index < shown.length - 1 || asked === undefined) return undefined;
  return () => conversation.send(asked);
}

/**
 * The answer while it is being written, or an indicator before its first words. Hidden from screen readers, which
 * announce the finished message.
 */
function DraftMessage({ text, doing }: { text: string; doing: string }) {
  if (doing === "") return null;
  if (text === "") return <Dots label={doing === say("thinking") ? "" : doing} />;
  return (
    <div class="message theirs" inert>
      <div class="bubble" dir="auto">
        <Markdown text={text} />
      </div>
    </div>
  );
}

function Log({ app }: { app: Application }) {
  const { conversation } = app;
  const draft = conversation.draft.value;
  const doing = activityOf(app);
  const shown = displayedMessages(app);
  const { log, away, toEnd, onScroll } = usePinned(`${shown.length} ${draft.length} ${doing}`);
  return (
    <div class="log-frame">
      <div class="log" role="log" aria-label={say("conversation")} tabIndex={0} ref={log} onScroll={onScroll}>
        {shown.map((message, index) => (
          <MessageBubble
            key={message.key}
            message={message}
            speaker={app.theme.value.title}
            retry={retryOf(app, shown, index)}
          />
        ))}
        <DraftMessage text={draft} doing={doing} />
      </div>
      {away && (
        <button type="button" class="to-end" aria-label={say("latest")} onClick={toEnd}>
          <Icon name="down" />
        </button>
      )}
      <div role="status" class="hidden">
        {doing}
      </div>
    </div>
  );
}

function QuickReplies({ conversation }: { conversation: Conversation }) {
  const { messages, outbox, awaiting } = conversation;
  const last = messages.value.at(-1);
  if (!last?.quickReplies.length || awaiting.value || outbox.items.value.length > 0 || conversation.ended)
    return null;
  return (
    <div class="replies" role="group" aria-label={say("suggestions")}>
      {last.quickReplies.map((reply) => (
        <button type="button" key={reply} dir="auto" onClick={() => conversation.send(reply)}>
          {reply}
        </button>
      ))}
    </div>
  );
}

/** Why messages wait, if they do. */
function Notice({ app: { conversation, held } }: { app: Application }) {
  const seconds = conversation.pauseSeconds.value;
  if (conversation.offline.value) return <p>{say("offline")}</p>;
  if (seconds > 0) return <p>{`${say("busy")} (${seconds} s)`}</p>;
  return held.value ? <p>{say("held")}</p> : null;
}

export function Chat({ app }: { app: Application }) {
  const { conversation } = app;
  return (
    <main>
      <Log app={app} />
      <QuickReplies conversation={conversation} />
      <div role="status" class="notice">
        <Notice app={app} />
      </div>
      {conversation.ended ? (
        <div class="over">
          <p>{say("ended")}</p>
          <button type="button" class="main-button" onClick={() => app.startNew()}>
            {say("newChat")}
          </button>
        </div>
      ) : (
        <Composer
          conversation={conversation}
          focused={app.isOpen.value && `${app.view.value} ${conversation.chat.value?.id}`}
        />
      )}
    </main>
  );
}
