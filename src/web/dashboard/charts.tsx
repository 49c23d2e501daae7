import { useMemo } from "preact/hooks";
import { Card } from "./card";
import { Chart, type ColorName, type Drawing } from "./chart";
import { CHANNEL_NAMES, CHANNELS } from "./data";
import { day, milliseconds, number, seconds, words } from "./format";
import type { Bucket, Channel, Statistics } from "./operations.generated";
import type { Sheet } from "./sheet";

const CHANNEL_COLORS: Readonly<Record<Channel, ColorName>> = { TEXT: "text", VOICE: "voice", SMS: "sms" };
type Of<K extends keyof Statistics> = Pick<Statistics, K>;

export function Conversations({ days, totals }: Of<"days" | "totals">) {
  const counted = (channel: Channel) =>
    days.map(({ channels }) => channels.find((one) => one.channel === channel)?.conversations ?? 0);
  const drawing = useMemo<Drawing>(
    () => ({
      type: "bar",
      labels: days.map(({ date }) => day(date)),
      series: CHANNELS.map((channel) => ({
        label: CHANNEL_NAMES[channel],
        colour: CHANNEL_COLORS[channel],
        values: counted(channel),
      })),
    }),
    [days],
  );
  const sheet: Sheet = {
    name: "Conversations by day",
    columns: ["Day", ...CHANNELS.map((channel) => CHANNEL_NAMES[channel]), "All", "Messages"],
    rows: days.map(({ date, conversations, messages }, place) => [
      date,
      ...CHANNELS.map((channel) => counted(channel)[place] ?? 0),
      conversations,
      messages,
    ]),
  };
  const live = totals.live > 0 ? `, ${number(totals.live)} of them live now` : "";
  return (
    <Card
      wide
      sheet={sheet}
      note={`${number(totals.conversations)} began${live}`}
      isEmpty={totals.conversations === 0}
    >
      <Chart drawing={drawing} label="Conversations by day and channel" height={240} />
    </Card>
  );
}

export function AnswerTimes({ days, totals }: Of<"days" | "totals">) {
  const drawing = useMemo<Drawing>(
    () => ({
      type: "line",
      labels: days.map(({ date }) => day(date)),
      series: [
        { label: "95th percentile", colour: "sms", values: days.map((one) => one.answerTimes.p95Ms) },
        { label: "Median", colour: "text", values: days.map((one) => one.answerTimes.p50Ms) },
      ],
      write: milliseconds,
    }),
    [days],
  );
  const sheet: Sheet = {
    name: "Answer times by day",
    columns: ["Day", "Median, ms", "95th percentile, ms", "Answers"],
    rows: days.map(({ date, answerTimes: { p50Ms, p95Ms, count } }) => [
      date,
      p50Ms && Math.round(p50Ms),
      p95Ms && Math.round(p95Ms),
      count,
    ]),
  };
  const { p50Ms, p95Ms, count } = totals.answerTimes;
  return (
    <Card
      sheet={sheet}
      note={`Median ${milliseconds(p50Ms)}, 95th percentile ${milliseconds(p95Ms)}`}
      isEmpty={count === 0}
    >
      <Chart drawing={drawing} label="Answer times by day" />
    </Card>
  );
}

interface SpreadProps {
  readonly name: string;
  readonly note: string;
  readonly unit: string;
  readonly buckets: readonly Bucket[];
  readonly write: (value: number) => string;
  /** Whether values are whole numbers: a bucket from 3 to 5 then contains 3 and 4. */
  readonly whole?: boolean;
}

/** Distribution of values over buckets. */
export function Spread({ name, note, unit, buckets, write, whole = false }: SpreadProps) {
  const labelOf = ({ from, to }: Bucket) => {
    if (to === null) return `${write(from)} +`;
    if (whole) return to - from === 1 ? write(from) : `${write(from)}–${write(to - 1)}`;
    return from === 0 ? `< ${write(to)}` : write(from);
  };
  const drawing = useMemo<Drawing>(
    () => ({
      type: "bar",
      labels: buckets.map(labelOf),
      series: [{ label: unit, colour: "main", values: buckets.map(({ count }) => count) }],
    }),
    [buckets],
  );
  const sheet: Sheet = {
    name,
    columns: ["From", "Up to", unit],
    rows: buckets.map(({ from, to, count }) => [
      write(from),
      to === null ? "and more" : write(whole ? to - 1 : to),
      count,
    ]),
  };
  return (
    <Card sheet={sheet} note={note} isEmpty={buckets.every(({ count }) => count === 0)}>
      <Chart drawing={drawing} label={name} height={180} />
    </Card>
  );
}

export const Lengths = ({ lengths, totals }: Of<"lengths" | "totals">) => (
  <>
    <Spread
      name="Messages per conversation"
      note="Ended conversations only"
      unit="Conversations"
      buckets={lengths.messages}
      write={number}
      whole
    />
    <Spread
      name="Length of conversations"
      note={`${totals.averageSeconds === null ? "Without" : `${seconds(totals.averageSeconds)} on average, without`} pauses of more than 5 minutes`}
      unit="Conversations"
      buckets={lengths.seconds}
      write={seconds}
    />
  </>
);

/** Horizontal bars, tall enough for their labels. */
const rowsHeight = (rows: number) => Math.max(90, 34 + rows * 30);
const MAX_BARS = 10;

export function EndReasons({ endReasons }: Of<"endReasons">) {
  const drawing = useMemo<Drawing>(() => {
    const drawn = endReasons.slice(0, MAX_BARS);
    return {
      type: "bar",
      lying: true,
      labels: drawn.map(({ reason }) => words(reason)),
      series: [{ label: "Conversations", colour: "main", values: drawn.map((one) => one.conversations) }],
    };
  }, [endReasons]);
  const sheet: Sheet = {
    name: "Why conversations ended",
    columns: ["Reason", "Conversations"],
    rows: endReasons.map(({ reason, conversations }) => [words(reason), conversations]),
  };
  return (
    <Card sheet={sheet} note="Excludes live conversations">
      <Chart
        drawing={drawing}
        label="Why conversations ended"
        height={rowsHeight(Math.min(MAX_BARS, endReasons.length))}
      />
    </Card>
  );
}

export function Functions({ functions }: Of<"functions">) {
  const drawing = useMemo<Drawing>(() => {
    const drawn = functions.slice(0, MAX_BARS);
    return {
      type: "bar",
      lying: true,
      labels: drawn.map(({ name }) => name),
      series: [
        { label: "Succeeded", colour: "good", values: drawn.map(({ succeeded }) => succeeded) },
        { label: "Failed", colour: "bad", values: drawn.map(({ failed }) => failed) },
      ],
    };
  }, [functions]);
  const sheet: Sheet = {
    name: "Functions",
    columns: ["Function", "Calls", "Succeeded", "Failed"],
    rows: functions.map(({ name, calls, succeeded, failed }) => [name, calls, succeeded, failed]),
  };
  return (
    <Card sheet={sheet} note="Calls by outcome" empty="No function was called in this period.">
      <Chart
        drawing={drawing}
        label="Function calls"
        height={rowsHeight(Math.min(MAX_BARS, functions.length))}
      />
    </Card>
  );
}
