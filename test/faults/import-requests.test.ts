import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  ASSISTANT,
  DEPLOYMENT,
  DESTINATION,
  ENTRY,
  FILE,
  LOG,
  PROJECT,
  WORKFLOW,
} from "../../src/cli/folder/selections";
import { fillOrganization } from "../cli-export/organization";
import { type Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { rows } from "../support/suite";

/** Requests of an undisturbed import. */
const REQUESTS = { rest: 28, parley: 51 } as const;
type Kind = keyof typeof REQUESTS;
const TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

interface Fault {
  /** Undefined: the connection is dropped. */
  readonly status?: number;
  readonly works?: boolean;
  readonly lasts?: boolean;
}
/** How a server disturbs a request, and all later ones if that lasts. */
const FAULTS: Readonly<Record<string, Fault>> = {
  "drops the connection": {},
  "drops the connection after its work": { works: true },
  "answers with 429": { status: 429 },
  "answers with 401": { status: 401 },
  "is overloaded from then on": { status: 503, lasts: true },
  "is broken from then on": { status: 500, lasts: true },
  "refuses the key from then on": { status: 401, lasts: true },
};

/** The fault of a test, and the number of the request at which it begins, counted over both servers. */
const disturbance: { seen: number; first: number; fault: Fault } = { seen: 0, first: Infinity, fault: {} };

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly content: string | Buffer;
}
const REFUSAL = { message: "No.", errors: [{ message: "No.", extensions: { code: "UNAUTHENTICATED" } }] };

/** Starts a server that disturbs its requests. @returns its address */
async function serve(
  answer: (req: IncomingMessage, body: Buffer<ArrayBuffer>) => Answer | Promise<Answer>,
): Promise<string> {
  const server = createServer((req, res) => {
    void (async () => {
      const body = Buffer.concat((await req.toArray()) as Buffer[]);
      const { first, fault } = disturbance;
      const number = ++disturbance.seen;
      const isDisturbed = number === first || (number > first && fault.lasts);
      const answered = !isDisturbed || fault.works ? await answer(req, body) : undefined;
      if (!isDisturbed)
        res.writeHead(answered!.status, { "Content-Type": answered!.type }).end(answered!.content);
      else if (fault.status === undefined) res.destroy();
      else res.writeHead(fault.status, { "Retry-After": "0" }).end(JSON.stringify(REFUSAL));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTests(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const page = (data: unknown[]) => ({ data, meta: { page: 1, take: 100, hasNextPage: false } });
const TIMES = { createdAt: "2022-12-01T00:00:00.000Z", updatedAt: "2022-12-24T00:00:00.000Z" };
const MESSAGE_ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const item = { id: "log-1", label: "Ada", type: "TEXT", createdAt: "2023-01-01T00:00:00Z" };
/** A small organization. @param origin address of the service @param key which is another one for each import */
const answersOf = (origin: string, key: string): Readonly<Record<string, unknown>> => ({
  "/rest/v1/organization": { id: "9" },
  "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: "desk", name: "Desk", ...TIMES }]),
  ...Object.fromEntries(
    ["voice", "sms", "chat"].map((kind) => [
      `/rest/v1/assistants/desk/${kind}`,
      { prompt: `Speak by ${kind}.`, isRagEnabled: true },
    ]),
  ),
  "/rest/v1/assistants/desk/theme": { theme: { title: "Hi" } },
  "/rest/v1/assistants/desk/logs?order=asc&page=1&take=100": [item],
  "/rest/v1/assistants/desk/log/log-1": {
    ...item,
    messages: [{ id: MESSAGE_ID, role: "USER", content: "Hello?" }],
  },
  "/rest/v1/organization/keys": [{ id: "k1", value: key, type: "SECRET", status: "ACTIVE" }],
  "/rest/v1/organization/keys/public": { id: "none" },
  "/rest/v1/settings": [{ id: "hook", url: "https://example.com/hook", secret: "s", name: "CRM", ...TIMES }],
  "/rest/v1/files?order=asc&page=1&take=100": page([
    { id: "f1", name: "a.txt", mimeType: "text/plain", size: 7, metadata: { lang: "en" }, ...TIMES },
  ]),
  "/rest/v1/files/f1/download": { url: `${origin}/content` },
});

let source: string;
let target: string;
let folder: string;
beforeAll(async () => {
  source = await serve((req) => {
    const answer = answersOf(source, String(req.headers["x-api-key"]))[req.url!];
    if (req.url === "/content") return { status: 200, type: "text/plain", content: "content" };
    const [status, content] = answer === undefined ? [404, "{}"] : [200, JSON.stringify(answer)];
    return { status, type: "application/json", content };
  });
  target = await serve(async (req, body) => {
    const headers = Object.entries(req.headers).filter(([name]) => /^(x-|apollo-|content-type)/.test(name));
    const answer = await fetch(running.url + req.url!, {
      ...{ method: req.method!, headers: headers as [string, string][] },
      ...(body.length > 0 && { body }),
    });
    const content = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, type: answer.headers.get("content-type") ?? "", content };
  });
  const { api, secretKey } = await running.otherOrganization();
  await fillOrganization(api, 3);
  folder = join(emptyFolder(afterTests), "export");
  const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
  expect(await runToEnd("cli/export", env, folder)).toMatchObject({ code: 0 });
}, TIMEOUT_MS);

/** An import into a new organization. */
async function begin(kind: Kind) {
  const { api } = await running.otherOrganization();
  const key = (await importerOf(api)).headers["X-API-Key"]!;
  const fromKey = `key-of-the-source-${key.slice(-10)}`;
  const env = { PARLEY_KEY: key, PARLEY_FROM_KEY: fromKey };
  const first = kind === "rest" ? ["rest", "--from", source] : ["parley", folder];
  const words = [...first, "--url", target];
  return {
    run: (...more: string[]) => runToEnd("cli/import", env, ...words, ...more),
    /** Runs the command that an import has printed. */
    continueWith: (command: string) => runToEnd("cli/import", env, ...command.split(" ")),
    shown: () => shownBy(api, fromKey),
  };
}

const ALL = `{
  assistants(order: asc) { data { ${ASSISTANT} } }
  files(order: asc) { data { ${FILE} } }
  logs(first: 100) { nodes { ${ENTRY} } }
  webhookDestinations { ${DESTINATION} } projects { ${PROJECT} } workflows { ${WORKFLOW} } deployments { ${DEPLOYMENT} }
  organization { requireSignedIdentity } keys { id value type status name }
}`;
/** Fields that an interruption may change, or an import sets anew. */
const PASSING = ["version", "attachedAt", "status", "passages", "problem", "durationSeconds"];

/** Everything that an import stores in an organization. */
async function shownBy(api: Api, fromKey: string): Promise<unknown> {
  const shown = await api.gql(ALL);
  const nodes = shown.logs.nodes as { id: string; assistantId: string }[];
  const logs = nodes.map(({ id, assistantId }) =>
    api.gql(`query ($a: ID!, $id: ID!) { log(assistantId: $a, id: $id) { ${LOG} } }`, { a: assistantId, id }),
  );
  const keys = shown.keys.filter(({ id }: { id: string }) => id === "k1");
  const all = { ...shown, keys, contents: await Promise.all(logs) };
  const text = JSON.stringify(all, (name, value: unknown) => (PASSING.includes(name) ? undefined : value));
  return JSON.parse(text.replaceAll(fromKey, "")) as unknown;
}

const listed = (stdout: string): string[] => stdout.split("Not taken over:\n")[1]?.split("\n") ?? [];

describe.each(Object.keys(REQUESTS) as Kind[])("parley import %s", (kind) => {
  let usual: { code: number | null; listed: string[]; shown: unknown };
  beforeAll(async () => {
    Object.assign(disturbance, { seen: 0, first: Infinity });
    const { run, shown } = await begin(kind);
    const { code, stdout } = await run();
    usual = { code, listed: listed(stdout), shown: await shown() };
    expect(disturbance.seen).toBe(REQUESTS[kind]);
  }, TIMEOUT_MS);

  const faults = Object.keys(FAULTS);
  const requests = Array.from({ length: REQUESTS[kind] }, (_, index) => index + 1);
  // Each request of the larger organization meets one of the faults.
  const all = requests.flatMap((request) =>
    (kind === "rest" ? faults : [""]).map(
      (_, index) => [request, faults[(request + index) % faults.length]!] as const,
    ),
  );
  const { title, rows: cases } = rows(all);
  test.each(cases)(
    `finishes, or stops with the command that does, if at request %d a server %s (${title})`,
    async (first, what) => {
      const { run, continueWith, shown } = await begin(kind);
      const fault = FAULTS[what]!;
      Object.assign(disturbance, { seen: 0, first, fault });
      const { code, stdout, stderr } = await run(...(fault.lasts ? ["--wait", "0"] : []));
      disturbance.first = Infinity;
      const [, command] = /npm run --silent import -- (.*)/.exec(stderr) ?? [];
      // Nothing is stored before a key is refused at once, so there is nothing to continue.
      if (code === 1 && command === undefined) expect([fault.status, stdout]).toEqual([401, ""]);
      else expect(code).toBe(command === undefined ? usual.code : 1);
      let last = { code, stdout };
      if (code === 1) last = command === undefined ? await run() : await continueWith(command);
      expect(last.code).toBe(usual.code);
      // A log is not read again once it is here, so only the first report has what is said about it.
      const said = new Set([...listed(stdout), ...listed(last.stdout)]);
      expect(usual.listed.filter((line) => !said.has(line))).toEqual([]);
      expect(listed(last.stdout).filter((line) => !usual.listed.includes(line))).toEqual([]);
      expect(await shown()).toEqual(usual.shown);
    },
    TIMEOUT_MS,
  );
});
