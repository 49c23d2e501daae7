import { describe, expect, test } from "@jest/globals";
import { decodeJwt } from "jose";
import { Api } from "../support/api";
import { freePort } from "../support/free-port";
import {
  emptyDatabase,
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
  type Env,
} from "../support/server";
import { query } from "../support/installation";

const LONG = 5 * SERVER_TIMEOUT_MS;
const READ = "{ analytics(input: {}) { totals { conversations } } }";
const tokenOf = (link: string) => new URL(link).hash.replace("#token=", "");
const opens = async (url: string, link: string) =>
  (await new Api(url, { Authorization: `Bearer ${tokenOf(link)}` }).gql(READ)).analytics.totals.conversations;
const printLink = (env: Env, ...options: string[]) => runToEnd("cli/analytics-link", env, ...options);

/** Settings with a port of their own and without keys, so that the first start prints them. */
async function newInstallation(): Promise<Env> {
  const { HOST, ENCRYPTION_KEYS } = SETTINGS;
  return {
    HOST: HOST!,
    ENCRYPTION_KEYS: ENCRYPTION_KEYS!,
    PORT: String(await freePort()),
    DATA_DIR: emptyFolder(),
  };
}

test.each<[string, () => Promise<Env>]>([
  ["the embedded database", newInstallation],
  ["DATABASE_URL", async () => ({ ...(await newInstallation()), DATABASE_URL: await emptyDatabase() })],
])(
  "with %s, the first start and the command print links that open the page, while the server runs and before its next start",
  async (_where, settings) => {
    const env: Env = { ...(await settings()), LOG_LEVEL: "debug" };
    const server = await startServer(env);
    const [first = ""] = /^ {2}http\S+#token=\S+$/m.exec(server.stdout()) ?? [];
    expect(await opens(server.url, first.trim())).toBe(0);
    const running = await printLink(env, "--days", "7");
    expect(running).toMatchObject({ code: 0, stderr: expect.stringContaining("Open it within 15 minutes.") });
    expect(running.stdout).toMatch(/^http:\/\/\S+\/analytics\?period=7#token=\S+\n$/);
    expect(new URL(running.stdout).origin).toBe(server.url);
    expect(await opens(server.url, running.stdout)).toBe(0);
    if (env.DATABASE_URL === undefined) {
      const elsewhere = await printLink({ ...env, PORT: String(await freePort()) });
      expect([new URL(elsewhere.stdout).origin, elsewhere.stderr]).toEqual([
        server.url,
        expect.stringContaining("Open it within 15 minutes."),
      ]);
    }
    for (const link of [first.trim(), running.stdout]) expect(server.stderr()).not.toContain(tokenOf(link));
    await server.end("SIGTERM");
    const stopped = await printLink(env);
    expect(stopped).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /No server answers at http.+ other values of HOST and PORT.+ \(npm start, or sudo systemctl start parley /,
      ),
    });
    const again = await startServer(env);
    expect(again.stdout()).not.toContain("#token=");
    expect(again.stdout()).toMatch(/Analytics +http\S+\/analytics +\(npm run analytics:link/);
    expect(await opens(again.url, stopped.stdout)).toBe(0);
  },
  LONG,
);

test(
  "the first start with keys of the operator prints no link, because its output may be collected",
  async () => {
    const server = await startServer({ ...SETTINGS, DATABASE_URL: await emptyDatabase() });
    expect(server.stdout()).not.toContain("#token=");
  },
  LONG,
);

describe("npm run analytics:link", () => {
  test(
    "links to another organization with --organization, and to PUBLIC_BASE_URL",
    async () => {
      const env = {
        ...SETTINGS,
        DATABASE_URL: await preparedDatabase(),
        PUBLIC_BASE_URL: "https://assistants.example.com",
      };
      const { stdout } = await runToEnd("cli/org-create", env, "--name", "Other");
      const { organizationId } = JSON.parse(stdout) as { organizationId: string };
      const other = await printLink(env, "--organization", organizationId);
      const own = await printLink(env);
      expect(own.stdout).toMatch(/^https:\/\/assistants\.example\.com\/analytics#token=/);
      const orgs = [other, own].map((result) => decodeJwt(tokenOf(result.stdout)).org);
      expect(orgs[0]).toBe(organizationId);
      expect(orgs[1]).not.toBe(organizationId);
    },
    LONG,
  );

  test(
    "explains wrong options, an unknown organization, and the lack of a key",
    async () => {
      const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase() };
      const said = async (...options: string[]) => {
        const { code, stdout, stderr } = await printLink(env, ...options);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        return stderr;
      };
      expect(await said("--days", "5")).toContain('--days must be one of 7, 30, 90, 365; got "5".');
      expect(await said("--organization", "none")).toContain('No organization with id "none".');
      await query(env.DATABASE_URL, "update api_keys set permissions = '[\"read\"]' where type = 'SECRET'");
      expect(await said()).toContain("npm run --silent key:create");
      await query(env.DATABASE_URL, "update api_keys set permissions = null, status = 'INACTIVE'");
      expect(await said()).toContain("npm run --silent key:create");
    },
    LONG,
  );
});
