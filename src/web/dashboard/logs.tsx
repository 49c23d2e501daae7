import { useEffect, useState } from "preact/hooks";
import { ExpiredTokenError } from "./api";
import { Card } from "./card";
import { CHANNEL_NAMES, logs } from "./data";
import type { Filters } from "./filters";
import { number, seconds, time, words } from "./format";
import type { Open } from "./lists";
import type { LogEntry, LogPage } from "./operations.generated";
import type { Sheet } from "./sheet";

interface LogsProps {
  readonly filters: Filters;
  readonly open: Open;
  readonly failed: (error: Error) => void;
}

/** The search starts after this pause in typing. */
const TYPING_PAUSE_MS = 300;

/** The page of logs at a cursor, or an error; while it loads, the previous page. */
function usePage({ filters, failed }: LogsProps, search: string, place: string | null) {
  const [page, show] = useState<LogPage>();
  const [problem, complain] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    logs(filters, search, place)
      .then((found) => isCurrent && (show(found), complain(undefined)))
      .catch((error: Error) => {
        if (error instanceof ExpiredTokenError) failed(error);
        else if (isCurrent) complain(error.message);
      });
    return () => void (isCurrent = false);
  }, [filters, search, place]);
  return { page, problem };
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
  const { page, problem } = usePage(props, search, places.at(-1) ?? null);
  const found = page?.nodes ?? [];
  const none = search === "" ? "No conversations in this period." : "Nothing was found.";
  return (
    <Card wide plain sheet={sheetOf(found)} note="Open one to read its messages" isEmpty={false}>
      <SearchField value={typed} type={type} />
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {page && found.length === 0 ? (
        <p class="empty">{none}</p>
      ) : (
        <LogTable found={found} open={props.open} />
      )}
      <Pager
        number={places.length}
        back={places.length > 1 ? () => go(places.slice(0, -1)) : undefined}
        on={page?.pageInfo.hasNextPage ? () => go([...places, page.pageInfo.endCursor]) : undefined}
      />
    </Card>
  );
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
          <tr key={log.id}>
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
        ))}
      </tbody>
    </table>
  </div>
);

interface PagerProps {
  readonly number: number;
  readonly back: (() => void) | undefined;
  readonly on: (() => void) | undefined;
}

const Pager = ({ number, back, on }: PagerProps) => (
  <nav class="pager" aria-label="Pages of logs">
    <button type="button" disabled={!back} onClick={back}>
      Newer
    </button>
    <span aria-live="polite">Page {number}</span>
    <button type="button" disabled={!on} onClick={on}>
      Older
    </button>
  </nav>
);
