import { useEffect } from "preact/hooks";
import type { Application, Trouble } from "../application";
import { say } from "../words";
import { Chat } from "./chat";
import { EngineCall } from "./engine-call";
import { Header } from "./header";
import { History } from "./history";
import { Voice } from "./voice";

/** A short message; details are on the page's console. */
function ErrorMessage({ trouble, again }: { trouble: Trouble; again: () => void }) {
  return (
    <main class="calm">
      <p role="alert">{say(trouble)}</p>
      {trouble !== "unavailable" && (
        <button type="button" class="main-button" onClick={again}>
          {say("again")}
        </button>
      )}
    </main>
  );
}

function Content({ app }: { app: Application }) {
  const trouble = app.trouble.value;
  const widget = app.widget.value;
  if (trouble) return <ErrorMessage trouble={trouble} again={() => void app.load()} />;
  if (!widget) return <main aria-busy="true" />;
  if (app.view.value === "history") return <History app={app} />;
  if (app.view.value === "chat") return <Chat app={app} />;
  if (app.held.value && !app.talk.active)
    return (
      <main class="calm">
        <p role="status">{say("held")}</p>
      </main>
    );
  if (widget.engineVoice) return <EngineCall app={app} />;
  return <Voice talk={app.talk} theme={app.theme.value} canWrite={!!app.text.value} />;
}

export function App({ app }: { app: Application }) {
  // On the document, because a click beside the controls leaves the focus on none of them.
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === "Escape") app.close();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [app]);
  return (
    <div class={`app in-${app.appearance.value}`}>
      <Header app={app} />
      <Content app={app} />
    </div>
  );
}
