import { useEffect, useMemo, useState } from "preact/hooks";
import { ExpiredTokenError } from "./api";
import { Card } from "./card";
import { CHANNEL_NAMES, logs } from "./data";
import type { Filters } from "./filters";
import { number, seconds, time, words } from "./format";
import type { Open } from "./lists";
import { Failed } from "./notices";
import type { LogEntry, LogPage } from "./operations.generated";
import type { Sheet } from "./sheet";

interface LogsProps {
  readonly filters: Filters;
  readonly open: Open;
  readonly failed: (error: Error) => void;
}

/** The search starts after this pause in typing. */
const TYPING_PAUSE_MS = 300;

/** The page of logs at a cursor, or an error; while it loads or after an error, the previous page. */
function usePage({ filters, failed }: LogsProps, search: string, place: string | null) {
  const wanted = useMemo(() => ({}), [filters, search, place]);
  const [shown, show] = useState<{ readonly page: LogPage; readonly wanted: object }>();
  const [problem, complain] = useState<string>();
  const [round, next] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    complain(undefined);
    logs(filters, search, place)
      .then((page) => isCurrent && show({ page, wanted }))
      .catch((error: Error) => {
        if (error instanceof ExpiredTokenError) failed(error);
        else if (isCurrent) complain(error.message);
      });
    return () => void (isCurrent = false);
  }, [wanted, round]);
  return { page: shown?.page, problem, waits: shown?.wanted !== wanted, again: () => next(round + 1) };
}

/** Logs of the period, with search, page by page. */
export function Logs(props: LogsProps) {
  const [typed, type] = useState("");
  const [search, look] = useState("");
  /** Cursors of the pages viewed so far, the current one last. */
  const [places, go] = useState<(string | null)[]>([null]);
  useEffect(() => {
    const timer = setTimeout(() => look(typed.trim()), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => go([null]), [props.filters, search]);
  const { page, problem, waits, again } = usePage(props, search, places.at(-1) ?? null);
  const found = page?.nodes ?? [];
  const reading = waits && problem === undefined;
  return (
    <Card wide plain sheet={sheetOf(found)} note="Open one to read its messages" isEmpty={false}>
      <SearchField value={typed} type={type} />
      {problem !== undefined && <Failed message={problem} again={again} />}
      <p class={page && found.length > 0 ? "unseen" : "empty"} role="status">
        {problem === undefined && statusOf(reading ? undefined : page, search)}
      </p>
      {found.length > 0 && (
        <div aria-busy={waits} class={reading ? "reading" : ""}>
          <LogTable found={found} open={props.open} />
        </div>
      )}
      <Pager
        number={places.length}
        back={places.length > 1 && !waits ? () => go(places.slice(0, -1)) : undefined}
        on={page?.pageInfo.hasNextPage && !waits ? () => go([...places, page.pageInfo.endCursor]) : undefined}
      />
    </Card>
  );
}

/** The sentence about a page of logs. @param page undefined while it loads */
function statusOf(page: LogPage | undefined, search: string): string {
  if (!page) return "Loading …";
  if (page.nodes.length > 0) return `${number(page.nodes.length)} shown`;
  return search === "" ? "No conversations in this period." : "Nothing was found.";
}

const SearchField = ({ value, type }: { value: string; type: (text: string) => void }) => (
  <label class="search">
    <span class="unseen">Search labels and messages</span>
    <input
      type="search"
      placeholder="Search in labels and in what was said"
      value={value}
      maxLength={200}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  </label>
);

const endOf = ({ status, endedReason }: LogEntry) =>
  status === "ended" ? words(endedReason ?? "unknown") : "Live";

const sheetOf = (found: readonly LogEntry[]): Sheet => ({
  name: "Recent logs",
  columns: ["Started", "Who", "Channel", "Assistant", "Messages", "Seconds", "End", "Id"],
  rows: found.map((log) => [
    log.createdAt,
    log.label,
    CHANNEL_NAMES[log.type],
    log.assistantName,
    log.messageCount,
    log.lengthSeconds,
    endOf(log),
    log.id,
  ]),
});

const COLUMNS = ["Who", "Channel", "Assistant", "Started", "Messages", "Length", "End"];
const NUMBERS = ["Messages", "Length"];

const LogTable = ({ found, open }: { found: readonly LogEntry[]; open: Open }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="Table: Recent logs">
    <table class="logs">
      <thead>
        <tr>
          {COLUMNS.map((column) => (
            <th key={column} scope="col" class={NUMBERS.includes(column) ? "number" : ""}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {found.map((log) => (
          <LogRow key={log.id} log={log} open={open} />
        ))}
      </tbody>
    </table>
  </div>
);

const LogRow = ({ log, open }: { log: LogEntry; open: Open }) => (
  <tr>
    <th scope="row">
      <button
        type="button"
        class="link"
        onClick={() => open({ assistantId: log.assistantId, id: log.id, title: log.label })}
      >
        <bdi>{log.label || "Nobody has spoken"}</bdi>
      </button>
    </th>
    <td class="nowrap">
      <span class={`dot ${log.type.toLowerCase()}`} aria-hidden="true" /> {CHANNEL_NAMES[log.type]}
    </td>
    <td class="name">
      <bdi>{log.assistantName}</bdi>
    </td>
    <td class="nowrap">{time(log.createdAt)}</td>
    <td class="number">{number(log.messageCount)}</td>
    <td class="number nowrap">{seconds(log.lengthSeconds)}</td>
    <td>
      <span class={log.status === "ended" ? "badge" : "badge good"}>{endOf(log)}</span>
    </td>
  </tr>
);

interface PagerProps {
  readonly number: number;
  readonly back: (() => void) | undefined;
  readonly on: (() => void) | undefined;
}

/** Buttons without an action stay in the order of focus: a disabled one would lose the focus when a page loads. */
const Pager = ({ number, back, on }: PagerProps) => (
  <nav class="pager" aria-label="Pages of logs">
    <button type="button" aria-disabled={!back} onClick={back}>
      Newer
    </button>
    <span aria-live="polite">Page {number}</span>
    <button type="button" aria-disabled={!on} onClick={on}>
      Older
    </button>
  </nav>
);
