import { change, decimal, milliseconds, number, seconds, share } from "./format";
import type { Compared, FunctionUse, ReadStatistics } from "./operations.generated";

interface Measure {
  readonly name: string;
  readonly hint: string;
  readonly write: (value: Compared) => string;
  /** Value that is compared between the two periods; null if there is none. */
  readonly value: (value: Compared) => number | null;
  /** Whether an increase is good, bad or neutral. */
  readonly more: "good" | "bad" | "neutral";
}

const ratio = (part: number, all: number) => (all === 0 ? null : part / all);
const sum = (functions: readonly FunctionUse[], name: "calls" | "succeeded") =>
  functions.reduce((total, use) => total + use[name], 0);
const done = ({ webhooks: { delivered, failed } }: Compared) => ({ delivered, all: delivered + failed });

const MEASURES: readonly Measure[] = [
  {
    name: "Conversations",
    hint: "that began",
    write: ({ totals }) => number(totals.conversations),
    value: ({ totals }) => totals.conversations,
    more: "neutral",
  },
  {
    name: "Messages per conversation",
    hint: "on average",
    write: ({ totals }) => decimal(totals.averageMessages),
    value: ({ totals }) => totals.averageMessages,
    more: "neutral",
  },
  {
    name: "Length",
    hint: "average, without pauses",
    write: ({ totals }) => seconds(totals.averageSeconds),
    value: ({ totals }) => totals.averageSeconds,
    more: "neutral",
  },
  {
    name: "Answer time",
    hint: "median",
    write: ({ totals }) => milliseconds(totals.answerTimes.p50Ms),
    value: ({ totals }) => totals.answerTimes.p50Ms,
    more: "bad",
  },
  {
    name: "Unanswered",
    hint: "of questions",
    write: ({ totals }) => share(totals.unanswered, totals.questions),
    value: ({ totals }) => ratio(totals.unanswered, totals.questions),
    more: "bad",
  },
  {
    name: "Functions",
    hint: "that succeeded",
    write: ({ functions }) => share(sum(functions, "succeeded"), sum(functions, "calls")),
    value: ({ functions }) => ratio(sum(functions, "succeeded"), sum(functions, "calls")),
    more: "good",
  },
  {
    name: "Webhooks",
    hint: "delivered",
    write: (value) => share(done(value).delivered, done(value).all),
    value: (value) => ratio(done(value).delivered, done(value).all),
    more: "good",
  },
];

/** The key figures, each with its change against the previous period. */
export const Tiles = ({ now, before }: Pick<ReadStatistics, "now" | "before">) => (
  <dl class="tiles">
    {MEASURES.map((measure) => (
      <div class="tile" key={measure.name}>
        <dt>
          {measure.name} <span>{measure.hint}</span>
        </dt>
        <dd>
          <strong>{measure.write(now)}</strong>
          <Change now={measure.value(now)} before={measure.value(before)} more={measure.more} />
        </dd>
      </div>
    ))}
  </dl>
);

function Change({ now, before, more }: { now: number | null; before: number | null; more: Measure["more"] }) {
  if (now === null) return <span class="change">No data</span>;
  if (now === 0 && before === 0) return <span class="change">Unchanged</span>;
  if (before === null || before === 0) return <span class="change">No earlier data</span>;
  const grown = now / before - 1;
  if (Math.abs(grown) < 0.0005) return <span class="change">Unchanged</span>;
  const news = more === "neutral" ? "" : grown > 0 === (more === "good") ? " good" : " bad";
  return (
    <span class={`change${news}`} title="Compared with the previous period of the same length">
      <span aria-hidden="true">{grown > 0 ? "↑" : "↓"}</span> {change(grown)}
      <span class="unseen"> {grown > 0 ? "more" : "less"} than in the period before</span>
    </span>
  );
}
