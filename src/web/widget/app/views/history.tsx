import { useEffect, useState } from "preact/hooks";
import type { Application } from "../application";
import { READ_CHATS, type ChatSummary } from "../operations.generated";
import { say, speech } from "../words";
import { Icon } from "./icons";

const when = (time: string): string =>
  new Intl.DateTimeFormat(speech.value.locale, { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(time),
  );

function Entry({ chat, choose }: { chat: ChatSummary; choose: () => void }) {
  return (
    <li>
      <button type="button" onClick={choose}>
        <Icon name={chat.channel === "VOICE" ? "phone" : "chat"} />
        <span class="label" dir="auto">
          {chat.label || say("conversation")}
        </span>
        <time dateTime={chat.startedAt}>{when(chat.startedAt)}</time>
      </button>
    </li>
  );
}

/** The visitor's earlier chats; live ones can be continued. */
export function History({ app }: { app: Application }) {
  const [chats, setChats] = useState<readonly ChatSummary[] | "failed">();
  const load = () => {
    setChats(undefined);
    app.session.run(READ_CHATS, {}).then(setChats, (error: unknown) => {
      app.report(error, "Earlier conversations");
      setChats("failed");
    });
  };
  useEffect(load, []);
  const choose = (id: string) =>
    app.conversation.open(id).then(
      () => (app.view.value = "chat"),
      (error: unknown) => {
        app.report(error, "An earlier conversation");
        setChats("failed");
      },
    );
  return (
    <main>
      {chats === "failed" ? (
        <div class="over" role="alert">
          <p>{say("failed")}</p>
          <button type="button" class="main-button" onClick={load}>
            {say("again")}
          </button>
        </div>
      ) : chats?.length === 0 ? (
        <p class="calm">{say("noHistory")}</p>
      ) : (
        <ul class="history" aria-busy={chats === undefined}>
          {chats?.map((chat) => (
            <Entry key={chat.id} chat={chat} choose={() => void choose(chat.id)} />
          ))}
        </ul>
      )}
    </main>
  );
}
