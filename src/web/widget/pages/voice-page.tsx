import { render } from "preact";
import { effect, signal } from "@preact/signals";
import "./frame.css";
import { codeOf } from "../app/api";
import { Conversation } from "../app/conversation";
import { READ_WIDGET, type Widget } from "../app/operations.generated";
import { readHold } from "../app/watch-hold";
import { ChatSession } from "../app/session";
import { Talk } from "../app/talk";
import { applyTheme, readTheme } from "../app/theme";
import { Voice } from "../app/views/voice";
import { say, speech, speechFor } from "../app/words";

/** The page of a call: the URL contains the chat's id, and its fragment the session token. */
const chatId = new URLSearchParams(location.search).get("chat") ?? "";
const session = new ChatSession(new URLSearchParams(location.hash.slice(1)).get("token") ?? "");

speech.value = speechFor(null);
document.documentElement.lang = speech.value.locale;
document.documentElement.dir = speech.value.direction;

const report = (error: unknown, where: string) =>
  console.error(`[CompanionWidget] ${where}: ${String(error)}`);

const conversation: Conversation = new Conversation(session, {
  channel: "VOICE",
  data: () => ({ variables: {}, metadata: {} }),
  onMessage: (message) => talk.stored(message),
  onError: report,
});
const talk = new Talk(conversation, speech.value.locale, (error) => report(error, "The call"));

const widget = signal<Widget | undefined>(undefined);
const sorry = signal<"unavailable" | "failed" | "held" | "callEnded" | undefined>(undefined);
const night = matchMedia("(prefers-color-scheme: dark)");
const theme = () => readTheme(widget.value?.theme ?? {}, widget.value?.name ?? "");

async function load(): Promise<void> {
  try {
    const [read, held] = await Promise.all([
      session.run(READ_WIDGET, { variables: {} }),
      readHold(session),
      conversation.open(chatId),
    ]);
    widget.value = read;
    sorry.value = conversation.ended ? "callEnded" : held ? "held" : undefined;
  } catch (error) {
    report(error, `The call ${chatId} could not be shown`);
    sorry.value = codeOf(error) === "NETWORK" ? "failed" : "unavailable";
  }
}

function Content() {
  if (sorry.value)
    return (
      <main class="calm">
        <p role="alert">{say(sorry.value)}</p>
        {(sorry.value === "failed" || sorry.value === "held") && (
          <button type="button" class="main-button" onClick={() => void load()}>
            {say("again")}
          </button>
        )}
      </main>
    );
  if (!widget.value) return <main aria-busy="true" />;
  if (talk.state.value === "over")
    return (
      <main class="calm">
        <p role="status">{say("callEnded")}</p>
      </main>
    );
  return <Voice talk={talk} theme={theme()} canWrite={false} />;
}

function Page() {
  const { title, subtitle } = theme();
  return (
    <div class="app in-alone">
      <header>
        <div class="names">
          <h1>{title || say("conversation")}</h1>
          {subtitle && <p>{subtitle}</p>}
        </div>
      </header>
      <Content />
    </div>
  );
}

effect(() => applyTheme(theme(), night.matches));
render(<Page />, document.body);
void load();
