import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ExpiredTokenError } from "./api";
import { AnswerTimes, Conversations, EndReasons, Functions, Lengths, Spread } from "./charts";
import { Controls } from "./controls";
import { statistics } from "./data";
import { filtersOf, problemWith, readAddress, writeAddress, type Choice, type Filters } from "./filters";
import { milliseconds } from "./format";
import { Assistants, Questions, type Open } from "./lists";
import { Logs } from "./logs";
import type { ReadStatistics } from "./operations.generated";
import { Failed, Nothing, Waiting } from "./notices";
import { useOpenedLog } from "./opened-log";
import { keepSignedIn } from "./renewal";
import { forgetToken, onNewLink, token } from "./session";
import { SignIn } from "./sign-in";
import { Tiles } from "./tiles";
import { Transcript } from "./transcript";
import { Webhooks } from "./webhooks";
import { zoneWithOffset } from "./zone";

/** Statistics for the filters; while they load, those of the previous filters. */
function useStatistics(filters: Filters | undefined, failed: (error: Error) => void) {
  const [shown, show] = useState<ReadStatistics>();
  const [reading, read] = useState(true);
  const [round, next] = useState(0);
  useEffect(() => {
    if (!filters) return;
    let isCurrent = true;
    read(true);
    statistics(filters)
      .then((found) => isCurrent && show(found))
      .catch((error: Error) => isCurrent && failed(error))
      .finally(() => isCurrent && read(false));
    return () => void (isCurrent = false);
  }, [filters, round]);
  return { shown, reading, again: () => next(round + 1) };
}

interface DashboardProps {
  /** Called when the token has expired. */
  readonly expire: () => void;
  readonly signOut: () => void;
}

function Dashboard({ expire, signOut }: DashboardProps) {
  const [choice, choose] = useState<Choice>(readAddress);
  const [problem, complain] = useState<string>();
  const { openedLog, open, close } = useOpenedLog();
  const wrong = problemWith(choice);
  const filters = useMemo(() => (wrong === undefined ? filtersOf(choice) : undefined), [choice]);
  const failed = (error: Error) => (error instanceof ExpiredTokenError ? expire() : complain(error.message));
  const { shown, reading, again } = useStatistics(filters, failed);
  const none = shown?.now.totals.conversations === 0;
  const assistants = shown?.everyone.assistants ?? [];
  const speaker = assistants.find(({ assistantId }) => assistantId === openedLog?.assistantId)?.name;
  useEffect(() => writeAddress(choice), [choice, openedLog]);
  useEffect(() => complain(undefined), [filters, shown]);
  return (
    <>
      <header class="top">
        <Title timezone={choice.timezone} signOut={signOut} />
        <Controls choice={choice} choose={choose} problem={wrong} assistants={assistants} />
      </header>
      <main aria-busy={reading} class={reading && shown ? "reading" : ""}>
        {problem !== undefined && <Failed message={problem} again={again} />}
        {!shown && problem === undefined && <Waiting />}
        {shown && <Tiles {...shown} />}
        {shown && none && <Nothing filtered={choice.assistantId !== "" || choice.channel !== ""} />}
        {shown && !none && <Statistics now={shown.now} open={open} />}
        {shown && <Webhooks {...shown.now} />}
        {shown && !none && filters && <Logs filters={filters} open={open} failed={failed} />}
      </main>
      {openedLog && <Transcript log={openedLog} speaker={speaker} close={close} failed={failed} />}
    </>
  );
}

const Title = ({ timezone, signOut }: { timezone: string; signOut: () => void }) => (
  <div>
    <h1>Analytics</h1>
    <p class="zone">
      <span>Days and times in {zoneWithOffset(timezone)}</span>
      <button type="button" class="link" onClick={signOut}>
        Sign out
      </button>
    </p>
  </div>
);

const Statistics = ({ now, open }: { now: ReadStatistics["now"]; open: Open }) => (
  <div class="cards">
    <Conversations {...now} />
    <AnswerTimes {...now} />
    <Spread
      name="Answer times"
      note="From a person’s message to the assistant’s answer"
      unit="Answers"
      buckets={now.totals.answerTimes.buckets}
      write={milliseconds}
    />
    <Lengths {...now} />
    <EndReasons {...now} />
    <Functions {...now} />
    <Questions questions={now.unansweredQuestions} open={open} />
    <Assistants assistants={now.assistants} />
  </div>
);

function Page() {
  const [ended, end] = useState(token() === null);
  const [hadOne, had] = useState(token() !== null);
  useEffect(() => onNewLink(() => (token(), location.reload())), []);
  useEffect(() => (ended ? undefined : keepSignedIn(expire)), [ended]);
  const [replaces, replace] = useState(false);
  const leave = (hasExpired: boolean) => {
    forgetToken();
    had(hasExpired);
    replace(true);
    end(true);
  };
  const expire = () => leave(true);
  if (ended) return <SignIn hadSession={hadOne} replaces={replaces} enter={() => end(false)} />;
  return <Dashboard expire={expire} signOut={() => leave(false)} />;
}

render(<Page />, document.getElementById("dashboard")!);
