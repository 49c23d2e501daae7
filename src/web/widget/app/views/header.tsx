import type { Application } from "../application";
import { useEffect, useRef } from "preact/hooks";
import { say } from "../words";
import { Avatar } from "./avatar";
import { IconButton } from "./icons";

/** Returns to the chat; gets the focus if the frame has it. */
function Back({ app }: { app: Application }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.hasFocus()) place.current?.querySelector("button")?.focus();
  }, []);
  const back = () => {
    if (app.talk.active) app.talk.hangUp();
    app.view.value = "chat";
  };
  return (
    <div ref={place}>
      <IconButton name="back" label={say("back")} onClick={back} />
    </div>
  );
}

function Actions({ app }: { app: Application }) {
  const inChat = app.view.value === "chat" && app.text.value && !app.trouble.value;
  const { conversation } = app;
  return (
    <div class="actions">
      {inChat && app.voice.value && (
        <IconButton name="phone" label={say("talk")} onClick={() => (app.view.value = "voice")} />
      )}
      {inChat && app.hasHistory.value && (
        <IconButton name="history" label={say("history")} onClick={() => (app.view.value = "history")} />
      )}
      {inChat && conversation.chat.value && (
        <IconButton name="compose" label={say("newChat")} onClick={() => app.startNew()} />
      )}
      {app.appearance.value === "bubble" && (
        <IconButton name="close" label={say("close")} onClick={() => app.close()} />
      )}
    </div>
  );
}

export function Header({ app }: { app: Application }) {
  const theme = app.theme.value;
  const away = app.view.value !== "chat" && app.text.value && !app.trouble.value;
  return (
    <header>
      {away ? <Back app={app} /> : theme.title && <Avatar theme={theme} />}
      <div class="names">
        <h1 dir="auto">
          {app.view.value === "history" ? say("history") : theme.title || say("conversation")}
        </h1>
        {theme.subtitle && app.view.value !== "history" && <p dir="auto">{theme.subtitle}</p>}
      </div>
      <Actions app={app} />
    </header>
  );
}
