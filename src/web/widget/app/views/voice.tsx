import type { Talk, TalkState } from "../talk";
import type { Theme } from "../theme";
import { say, type TextName } from "../words";
import { Avatar } from "./avatar";
import { Icon, IconButton } from "./icons";

const STATUS_WORDS: Readonly<Record<TalkState, TextName | undefined>> = {
  idle: undefined,
  connecting: "connecting",
  listening: "listening",
  thinking: "thinking",
  speaking: "speaking",
  over: "callEnded",
};

const statusOf = ({ state, muted }: Talk): string => {
  const word = state.value === "listening" && muted.value ? "muted" : STATUS_WORDS[state.value];
  return word ? say(word) : "";
};

function Controls({ talk }: { talk: Talk }) {
  if (talk.trouble.value === "deaf") return null;
  if (!talk.active)
    return (
      <button type="button" class="main-button" onClick={() => void talk.start()}>
        <Icon name="mic" />
        {say("startTalking")}
      </button>
    );
  const muted = talk.muted.value;
  return (
    <>
      <IconButton
        name={muted ? "muted" : "mic"}
        label={say(muted ? "unmute" : "mute")}
        class="round"
        onClick={() => talk.toggleMute()}
      />
      {talk.state.value === "speaking" && (
        <IconButton name="stop" label={say("interrupt")} class="round" onClick={() => talk.interrupt()} />
      )}
      <IconButton name="phone" label={say("hangUp")} class="round hang-up" onClick={() => talk.hangUp()} />
    </>
  );
}

export interface VoiceProps {
  readonly talk: Talk;
  readonly theme: Theme;
  /** Whether the visitor can also write. */
  readonly canWrite: boolean;
}

/** A spoken conversation with captions. */
export function Voice({ talk, theme, canWrite }: VoiceProps) {
  const trouble = talk.trouble.value;
  const sorry = trouble === "deaf" && !canWrite ? "deafOnly" : trouble;
  return (
    <main class="voice">
      <div class={`orb ${talk.muted.value ? "muted" : talk.state.value}`} aria-hidden="true">
        <Avatar theme={theme} large />
      </div>
      <p class="state" role="status">
        {statusOf(talk)}
      </p>
      {sorry && (
        <p class="sorry" role="alert">
          {say(sorry)}
        </p>
      )}
      <div class="captions" role="group" tabIndex={0} aria-label={say("conversation")}>
        {talk.heard.value && (
          <p class="heard" dir="auto">
            {talk.heard.value}
          </p>
        )}
        {talk.answer.value && (
          <p class="answer" dir="auto">
            {talk.answer.value}
          </p>
        )}
      </div>
      <div class="controls">
        <Controls talk={talk} />
      </div>
    </main>
  );
}
