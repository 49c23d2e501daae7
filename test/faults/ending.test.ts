import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { Api } from "../support/api";
import {
  afterTests,
  emptyFolder,
  type Env,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  RUN,
  runToEnd,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";

/** Clients that create assistants one after another, on connections that they keep, until the server is gone. */
function writers(api: Api) {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const write = async () => {
    for (;;) {
      const answer = await api.request("POST", "/rest/v1/assistants", { name: "Ada" }).catch(() => undefined);
      if (!answer) return;
      if (answer.status === 200) acknowledged.push(answer.body.id);
      else refused.push(answer.text);
    }
  };
  return { acknowledged, refused, gone: Promise.all(Array.from({ length: 8 }, write)) };
}

/** A request of which the server has the headers and half of the body. */
async function halfSent({ url, api }: ServerProcess, name: string): Promise<ClientRequest> {
  const headers = { ...api.headers, "Content-Type": "application/json", Expect: "100-continue" };
  const post = request(`${url}/rest/v1/assistants`, { method: "POST", headers });
  post.flushHeaders();
  await once(post, "continue"); // the server has received the headers
  post.write(`{"name": "${name}`);
  return post;
}

async function finished(post: ClientRequest): Promise<{ status?: number; connection?: string; id: string }> {
  post.end(`"}`);
  const [answer] = (await once(post, "response")) as [IncomingMessage];
  const text = (await answer.setEncoding("utf8").toArray()).join("");
  const { id } = JSON.parse(text) as { id: string };
  return { status: answer.statusCode, connection: answer.headers.connection, id };
}

const refusesConnections = (url: string) => async () =>
  fetch(`${url}/health/live`).then(
    () => false,
    ({ cause }: { cause?: { code?: string } }) => cause?.code === "ECONNREFUSED",
  );

/** Log lines with level warning or higher. */
const problemsIn = (stderr: string): string[] =>
  stderr.split("\n").filter((line) => line !== "" && !line.startsWith('{"level":30,'));

describe("a server on an external database", () => {
  let env: Env;
  /** Each test ends the server that the test before started last. */
  let server: ServerProcess;
  const start = async () => (server = await startServer(env, afterTests));
  beforeAll(async () => {
    env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(afterTests) };
    await start();
  }, SERVER_TIMEOUT_MS);

  test(
    "finishes running requests after SIGTERM, accepts no new ones, and exits with 0",
    async () => {
      const running = await Promise.all(["Ada", "Bea", "Cleo"].map((name) => halfSent(server, name)));
      const ended = server.end("SIGTERM");
      await until(refusesConnections(server.url));
      const answers = await Promise.all(running.map(finished));
      for (const answer of answers) expect(answer).toMatchObject({ status: 200, connection: "close" });
      const { code, stderr } = await ended;
      expect({ code, problems: problemsIn(stderr) }).toEqual({ code: 0, problems: [] });

      const { api } = await start();
      for (const { id } of answers) await api.get(`/rest/v1/assistants/${id}`, 200);
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test.each(["SIGTERM", "SIGINT"] as const)(
    "exits with 0 after %s during writes on keep-alive connections, without errors or lost writes",
    async (signal) => {
      const { acknowledged, refused, gone } = writers(server.api);
      await until(() => acknowledged.length > 100);
      const { code, stderr } = await server.end(signal);
      expect({ code, problems: problemsIn(stderr) }).toEqual({ code: 0, problems: [] });
      await gone;
      expect(refused).toEqual([]);

      const { api } = await start();
      for (const id of acknowledged) await api.get(`/rest/v1/assistants/${id}`, 200);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});

test(
  "exits with 0 after a SIGTERM that follows its output at once",
  async () => {
    const env = { PATH: process.env.PATH, ...SETTINGS, DATABASE_URL: await preparedDatabase() };
    const child = spawn(process.execPath, [RUN, "main"], { env, cwd: emptyFolder() });
    child.stdout.on("data", (text: Buffer) => void (text.includes("Try it:") && child.kill("SIGTERM")));
    expect(await once(child, "exit")).toEqual([0, null]);
  },
  SERVER_TIMEOUT_MS,
);

describe("a server on the embedded database", () => {
  let env: Env;
  let server: ServerProcess;
  /** Client with the keys that the first start printed. */
  let api: Api;
  /** Starts a server on the same data; it does not print the keys again. */
  const startAgain = async () => {
    server = await startServer(env, afterTests);
    expect(server.stdout()).not.toMatch(/parley_[sp]k_/);
    api = new Api(server.url, api.headers);
  };
  beforeAll(async () => {
    env = { PORT: "0", DATA_DIR: join(emptyFolder(afterTests), "made/by/the start") };
    server = await startServer(env, afterTests);
    api = server.api;
  }, SERVER_TIMEOUT_MS);

  test("creates a DATA_DIR whose secrets only its user can read, and that PostgreSQL's user can enter", () => {
    const mode = (path: string) => statSync(join(env.DATA_DIR!, path)).mode & 0o777;
    expect(mode(".")).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
    for (const secret of ["encryption-keys", "postgres.json", "postgres.log"])
      expect(mode(secret)).toBe(0o600);
  });

  test(
    "prints the keys once, with a working curl command; org:create works while it runs",
    async () => {
      expect(server.stderr()).toBe("");
      const keys = server.stdout().match(/parley_[sp]k_\w+/g)!;
      expect(new Set(keys).size).toBe(2);
      expect(server.stdout()).toContain(`${server.url}/widget/demo `);
      const [, key, address] = /^ {2}curl -H 'X-API-Key: (\S+)' (\S+)$/m.exec(server.stdout())!;
      expect(keys).toEqual([key, expect.stringMatching(/^parley_pk_/), key]);
      const { data } = await new Api("", { "X-API-Key": key! }).get(address!, 200);
      expect(data).toHaveLength(6);

      const { code, stdout, stderr } = await runToEnd("cli/org-create", env, "--name", "Beside");
      const stated = `Database: embedded PostgreSQL in ${env.DATA_DIR}\n`;
      expect({ code, stderr }).toEqual({ code: 0, stderr: stated });
      const { secretKey } = JSON.parse(stdout) as { secretKey: string };
      await new Api(server.url, { "X-API-Key": secretKey }).get("/rest/v1/assistants", 200);
      await api.get("/rest/v1/assistants", 200);

      await server.end("SIGTERM");
      await startAgain();
      const [, line] = /^ {2}curl (\S+)$/m.exec(server.stdout())!;
      expect((await new Api("").request("GET", line!)).status).toBeLessThan(300);
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "loses nothing acknowledged after kill -9; the next start finds the data and prints no keys",
    async () => {
      const { acknowledged, gone } = writers(api);
      await until(() => acknowledged.length > 100);
      await server.end("SIGKILL");
      await gone;

      await startAgain();
      for (const id of acknowledged) await api.get(`/rest/v1/assistants/${id}`, 200);
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "stops without errors after SIGTERM, also with a connection that has sent nothing, as browsers open in advance",
    async () => {
      const silent = connect(Number(new URL(server.url).port), "127.0.0.1");
      await once(silent, "connect");
      const { code, stderr } = await server.end("SIGTERM");
      // The server before was killed, perhaps during a job, of which this one tells at its start.
      const problems = problemsIn(stderr).filter((line) => !line.includes("jobs of another server"));
      expect({ code, problems }).toEqual({ code: 0, problems: [] });
    },
    SERVER_TIMEOUT_MS,
  );
});
