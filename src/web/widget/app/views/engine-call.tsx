import { useState } from "preact/hooks";
import type { Application } from "../application";
import { START_CALL } from "../operations.generated";
import type { PageData } from "../../protocol";
import { say } from "../words";
import { Avatar } from "./avatar";
import { Icon } from "./icons";

type CallState =
  { readonly at: "idle" | "connecting" | "failed" } | { readonly at: "open"; readonly url: string };

/**
 * Opens the window at the click and navigates it later: a window opened after a request would be blocked as a pop-up.
 */
async function openCall(app: Application, data: PageData): Promise<string> {
  const opened = window.open("about:blank", "_blank", "popup,width=420,height=640");
  try {
    const { webCallUrl } = await app.session.run(START_CALL, { input: data });
    if (!/^https?:/.test(webCallUrl))
      throw new Error(`The engine returned an unsupported call URL: ${webCallUrl}`);
    if (opened) {
      opened.opener = null;
      opened.location.replace(webCallUrl);
    }
    return webCallUrl;
  } catch (error) {
    opened?.close();
    throw error;
  }
}

/** A call at the voice engine, in its own window. */
export function EngineCall({ app }: { app: Application }) {
  const [call, setCall] = useState<CallState>({ at: "idle" });
  const start = () => {
    setCall({ at: "connecting" });
    openCall(app, app.pageData).then(
      (url) => setCall({ at: "open", url }),
      (error: unknown) => {
        app.report(error, "The call");
        setCall({ at: "failed" });
      },
    );
  };
  return (
    <main class="voice">
      <div class={`orb ${call.at}`} aria-hidden="true">
        <Avatar theme={app.theme.value} large />
      </div>
      <p class="state" role="status">
        {call.at === "connecting" && say("connecting")}
        {call.at === "failed" && say("failed")}
        {call.at === "open" && say("elsewhere")}
      </p>
      <div class="controls">
        {call.at === "open" ? (
          <a class="main-button" href={call.url} target="_blank" rel="noopener noreferrer">
            <Icon name="phone" />
            {say("talk")}
          </a>
        ) : (
          <button type="button" class="main-button" onClick={start}>
            <Icon name="mic" />
            {say("startTalking")}
          </button>
        )}
      </div>
    </main>
  );
}
