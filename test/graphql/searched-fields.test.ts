import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp, type RunningApp } from "../support/app";
import { erased } from "../support/erasures";
import { newAssistant } from "../support/factories";
import { unchecked } from "../support/plans";

const running = useApp({ WORKER: "on" });
/** PostgreSQL finds the rows by other statements if no policies hide any. */
const withoutPolicies = useApp({ ROW_LEVEL_SECURITY: "false" });

interface Log {
  readonly id: string;
  readonly label?: string;
  readonly phone_number?: string;
  readonly first_words?: string;
  readonly user_name?: string;
  readonly user_id?: string;
  readonly anonymous_id?: string;
  readonly external_id?: string;
  readonly metadata: unknown;
  readonly messages: readonly string[];
}

/** Deterministic, so that a failure can be repeated. */
let seed = 20_261_130;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return Math.floor((seed / 2 ** 31) * below);
};
const oneOf = <T>(values: readonly T[]): T => values[random(values.length)]!;

/** Pieces of texts: words, and characters that JSON, patterns or regular expressions treat in a special way. */
const PIECES = [
  "Ann",
  "42",
  "zug",
  "Ärger",
  "ß",
  "日本",
  " ",
  "  ",
  '"',
  "\\",
  "\n",
  "\t",
  "\u0001",
  "%",
  "_",
  "{",
  "}",
  ":",
  ",",
  "[",
  "null",
  "true",
  "'",
  "?",
  "$1",
  "n",
  "u0001",
];
const text = () => Array.from({ length: 1 + random(4) }, () => oneOf(PIECES)).join("");
const maybe = () => (random(3) === 0 ? text() : undefined);

function valueOf(depth: number): unknown {
  const kind = random(depth > 2 ? 5 : 8);
  if (kind === 0) return random(1_000);
  if (kind === 1) return oneOf([true, false, null, 1.5, -3]);
  if (kind < 5) return text();
  if (kind < 6) return Array.from({ length: random(3) }, () => valueOf(depth + 1));
  return objectOf(depth + 1);
}
const objectOf = (depth: number) =>
  Object.fromEntries(Array.from({ length: random(3) }, () => [text(), valueOf(depth)]));

const newLog = (id: string): Log => ({
  id,
  label: maybe(),
  phone_number: maybe(),
  first_words: maybe(),
  user_name: maybe(),
  user_id: maybe(),
  anonymous_id: maybe(),
  external_id: maybe(),
  metadata: random(2) === 0 ? {} : objectOf(0),
  messages: Array.from({ length: random(3) }, text),
});

/** The texts in metadata: keys, and values as they are. */
function textsIn(value: unknown): string[] {
  if (value === null) return [];
  if (typeof value === "string") return [value];
  if (typeof value !== "object") return [JSON.stringify(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}
const folded = (value: string) => value.toLowerCase();

const textsOf = (log: Log): string[] =>
  [
    log.label ?? log.phone_number ?? log.first_words,
    ...[log.user_name, log.user_id, log.anonymous_id, log.external_id],
    ...textsIn(log.metadata),
    ...log.messages,
  ].flatMap((one) => (one === undefined ? [] : folded(one)));

let assistantId: string;
let ofOther: string;
const LOGS = 160;
/** Newer logs that no search finds: more than the first scan of a search covers. */
const OTHERS = 600;
const BETWEEN = "2026-06-01T00:00:00Z";
const logs = Array.from({ length: LOGS }, (_, index) => newLog(`log-${String(index).padStart(3, "0")}`));

beforeAll(async () => {
  assistantId = await fill(running);
  ofOther = await fill(withoutPolicies);
});

async function fill({ api, database }: RunningApp): Promise<string> {
  const assistantId = await newAssistant(api);
  const rows = `'${JSON.stringify(logs).replaceAll("'", "''")}'::jsonb`;
  const fields =
    "id, label, phone_number, first_words, user_name, user_id, anonymous_id, external_id, metadata";
  await database.query(
    unchecked(`insert into chats (organization_id, assistant_id, channel, status, status_event_id, started_at, ended_at, ${fields})
     select a.organization_id, a.id, 'TEXT', 'ended', 'none', '2026-03-01', now(), ${fields
       .split(", ")
       .map((name) => `log.${name}`)
       .join(", ")}
     from assistants a, jsonb_populate_recordset(null::chats, ${rows}) log where a.id = '${assistantId}';
     insert into chats (organization_id, assistant_id, channel, status, status_event_id, started_at, ended_at, id, label)
     select organization_id, id, 'TEXT', 'ended', 'none', '2026-07-01', now(), 'other-' || n, 'ww' from assistants, generate_series(1, ${OTHERS}) n
     where id = '${assistantId}';
     insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, log ->> 'id' || '-' || n, log ->> 'id', a.id, n, 'USER', 'TEXT', content
     from assistants a, jsonb_array_elements(${rows}) log, jsonb_array_elements_text(log -> 'messages') with ordinality as message (content, n)
     where a.id = '${assistantId}'`),
  );
  return assistantId;
}

interface Page {
  readonly nodes: readonly { readonly id: string }[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}
const SEARCH = `query ($filter: LogFilter!, $after: String) {
  logs(first: 100, after: $after, filter: $filter) { nodes { id } totalCount pageInfo { hasNextPage endCursor } } }`;

/** The logs that a search finds, and their number. */
async function found(
  filter: object,
  { api } = running,
): Promise<{ readonly ids: string[]; readonly totalCount: number }> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const { nodes, totalCount, pageInfo }: Page = (await api.gql(SEARCH, { filter, after })).logs;
    ids.push(...nodes.map(({ id }) => id));
    if (!pageInfo.hasNextPage) return { ids: ids.sort(), totalCount };
    after = pageInfo.endCursor;
  }
}

const DELETE = "mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { id matched } }";

/** The searches: pieces of the texts, also across their ends, and of their JSON. */
const searches = [
  ...PIECES,
  ...[
    '":',
    '": "',
    "\\\\",
    '\\"',
    "{}",
    ", ",
    "Ann 42",
    "42 zug",
    "  ",
    "\\n",
    'zug"',
    "\\u0001",
    "%%",
    "__",
    "ANN",
    "ärger",
    "zug zug zug",
  ],
  ...Array.from({ length: 60 }, () => {
    const whole = oneOf(logs.map((log) => textsOf(log).join(" ")));
    const from = random(whole.length);
    return whole.slice(from, from + 1 + random(12)).toWellFormed();
  }).filter((search) => search !== ""),
];

const expectedOf = (search: string) =>
  logs.filter((log) => textsOf(log).some((one) => one.includes(folded(search)))).map(({ id }) => id);

describe("a search finds exactly the logs of which a single text contains it", () => {
  test.each([...new Set(searches)].map((search) => [JSON.stringify(search), search]))(
    "%s",
    async (_, search) => {
      const ids = expectedOf(search);
      const expected = { ids, totalCount: ids.length };
      expect(await found({ search })).toEqual(expected); // by the index, beside newer logs
      expect(await found({ search, assistantId })).toEqual(expected);
      expect(await found({ search, startedBefore: BETWEEN })).toEqual(expected); // in a first scan
      expect(await found({ search }, withoutPolicies)).toEqual(expected);
      expect(await found({ search, assistantId: ofOther }, withoutPolicies)).toEqual(expected);
    },
  );
});

test("the searches find between none and all of the logs", () => {
  const sizes = searches.map((search) => expectedOf(search).length);
  expect(Math.min(...sizes)).toBe(0);
  expect(Math.max(...sizes)).toBeGreaterThan(LOGS / 4);
  expect(sizes.filter((size) => size > 0 && size < LOGS / 4).length).toBeGreaterThan(searches.length / 6);
});

test("deleteLogs deletes exactly the logs that a search finds", async () => {
  const search = '"';
  const ids = expectedOf(search);
  const { deleteLogs } = await running.api.gql(DELETE, { filter: { search } });
  expect(deleteLogs.matched).toBe(ids.length);
  await erased(running, deleteLogs.id);
  const left = await running.database.query<{ id: string }>(
    "select id from chats where id like 'log-%' order by id",
  );
  expect(left.map(({ id }) => id)).toEqual(logs.map(({ id }) => id).filter((id) => !ids.includes(id)));
});
