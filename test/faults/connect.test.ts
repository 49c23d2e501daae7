import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { writeEnv } from "../../src/cli/connect/env-file";
import { baseUrlOf, findOllama, isPrivate } from "../../src/cli/connect/target";
import type { Api } from "../support/api";
import { inTestedPlaces } from "../support/database";
import { newAssistant, newChat } from "../support/factories";
import { stubModel, type Reply } from "../support/stub-model";
import {
  afterTest,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
  type Env,
} from "../support/server";

const LONG = 3 * SERVER_TIMEOUT_MS;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content } }`;

async function serverWith(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  return model;
}
const installation = async (): Promise<Env> => ({
  ...SETTINGS,
  WORKER: "on",
  DATABASE_URL: await preparedDatabase(),
});

async function ask(api: Api, model: string): Promise<string> {
  const id = await newAssistant(api);
  await api.patch(`/rest/v1/assistants/${id}/chat`, { model, initialMessage: "" }, 200);
  const input = {
    aiChatId: await newChat(api, id),
    role: "USER",
    channel: "TEXT",
    content: "When?",
    metadata: {},
  };
  return (await api.gql(POST, { input })).postMessage.content as string;
}
const answersOf = (stdout: string) => /^ {2}Answers +(.*)$/m.exec(stdout)?.[1];

describe("npm run connect", () => {
  test(
    "stores a provider for the default organization of a running server, which says so at its next start",
    async () => {
      const model = await serverWith({ text: ["At nine."] });
      const env: Env = { ...(await installation()), OPENAI_BASE_URL: model.url };
      const server = await startServer({ ...env, OPENAI_BASE_URL: "" });
      expect(answersOf(server.stdout())).toBe("looked up locally; run `npm run connect` to use a model");
      const { DATABASE_URL: place } = { ...env, ...inTestedPlaces(env) };
      expect(server.stdout()).toContain(
        `PostgreSQL at ${new URL(place!).host}${new URL(place!).pathname}, no TLS, row-level security off`,
      );
      await server.end("SIGTERM");
      const again = await startServer(env);
      const { code, stdout, stderr } = await runToEnd(
        "cli/connect",
        env,
        "--provider",
        "openai",
        "--key",
        "sk-1",
      );
      const { host, pathname } = new URL(env.DATABASE_URL!);
      expect({ code, stderr }).toEqual({ code: 0, stderr: `Database: PostgreSQL at ${host}${pathname}\n` });
      expect(stdout).toMatch(/It answered in \d+ ms: At nine\.\nStored for the default organization\./);
      for (const [identifier, name] of [
        ["GPT_4_O_MINI", "gpt-4o-mini"],
        ["LLAMA_3_8B", "gpt-4o"],
      ]) {
        expect(await ask(again.api, identifier!)).toBe("At nine.");
        expect(model.asked.at(-1)!.model).toBe(name);
      }
      expect(new Set(model.keys)).toEqual(new Set(["Bearer sk-1"]));
      await again.end("SIGTERM");
      const last = await startServer(env);
      expect(answersOf(last.stdout())).toBe("written by models of OPENAI");
    },
    LONG,
  );

  test(
    "writes a private address to .env, whose settings answer for every identifier",
    async () => {
      const model = await serverWith({ text: ["At ten."] });
      const env = await installation();
      const { code, stdout } = await runToEnd("cli/connect", env, "--url", model.url, "--model", "llama3.2");
      expect(code).toBe(0);
      expect(stdout).toMatch(/Stored in \.env, for all .+ npm start, or run sudo systemctl restart parley/);
      const settings = { MODEL_BASE_URL: model.url, MODEL_NAME: "llama3.2", MODEL_API_KEY: "x" };
      const server = await startServer({ ...env, ...settings });
      expect(answersOf(server.stdout())).toBe(`written by llama3.2 (${new URL(model.url).host})`);
      for (const identifier of ["GPT_4_O", "MIXTRAL"])
        expect(await ask(server.api, identifier)).toBe("At ten.");
      expect(new Set(model.asked.map(({ model }) => model))).toEqual(new Set(["llama3.2"]));
    },
    LONG,
  );

  test(
    "uses MODEL_PROVIDER with the key and address of a provider that CATALOG_FILE adds",
    async () => {
      const model = await serverWith({ text: ["At six."] });
      const folder = mkdtempSync(join(tmpdir(), "parley-connect-"));
      afterTest(() => rmSync(folder, { recursive: true }));
      const CATALOG_FILE = join(folder, "catalog.json");
      writeFileSync(CATALOG_FILE, JSON.stringify({ providers: [{ id: "mistral" }] }));
      const own = { MISTRAL_API_KEY: "sk-m", MISTRAL_BASE_URL: model.url };
      const env = { ...(await installation()), CATALOG_FILE, ...own };
      const wrong = await runToEnd("main", { ...env, MISTRAL_BASE_URL: "nowhere" });
      expect(wrong.stderr).toContain('MISTRAL_BASE_URL must be an http or https URL; got "nowhere".');
      const server = await startServer({ ...env, MODEL_PROVIDER: "MISTRAL", MODEL_NAME: "mistral-small" });
      expect(await ask(server.api, "GPT_4_O")).toBe("At six.");
      expect(model.asked[0]!.model).toBe("mistral-small");
      expect(model.keys).toEqual(["Bearer sk-m"]);
    },
    LONG,
  );

  test(
    "stores nothing and says why if the test request fails, or an option is wrong",
    async () => {
      const model = await serverWith({
        status: 401,
        error: { message: "Incorrect API key", code: "invalid_api_key" },
      });
      const env = { ...(await installation()), OPENAI_BASE_URL: model.url };
      const run = (...options: string[]) => runToEnd("cli/connect", env, ...options);
      const refused = await run("--provider", "openai", "--key", "sk-wrong");
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("OPENAI refused the request; nothing was stored.");
      expect(refused.stderr).toContain("Incorrect API key");
      expect((await run("--provider", "openai")).stderr).toContain("OPENAI_API_KEY");
      expect((await run("--provider", "nobody")).stderr).toContain("openai, groq, anthropic");
      expect((await run("--url", model.url, "--model", "m", "--store", "organization")).stderr).toContain(
        "private",
      );
      expect((await run()).stderr).toContain("Usage: npm run connect");
      const server = await startServer({ ...env, OPENAI_BASE_URL: "" });
      expect(answersOf(server.stdout())).toContain("looked up locally");
    },
    LONG,
  );

  test(
    "suggests the server's own names for a mistyped model, and says if there is no server",
    async () => {
      const server = createServer((req, res) => {
        const isList = req.url === "/v1/models";
        const body = isList
          ? { data: [{ id: "other" }, { id: "shop-model-1" }] }
          : { error: { message: "The model does not exist", code: "model_not_found" } };
        req.resume();
        res.writeHead(isList ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const env = await installation();
      const mistyped = await runToEnd("cli/connect", env, "--url", url, "--model", "shop-modle-1");
      expect(mistyped.code).toBe(1);
      expect(mistyped.stderr).toContain(`${url} refused the request; nothing was stored.`);
      expect(mistyped.stderr).toContain("Did you mean shop-model-1? Models there: other, shop-model-1");
      expect(mistyped.stderr).toContain("Name another model with --model.");
      expect(mistyped.stderr).not.toMatch(/setModelMapping|every identifier/);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      const off = await runToEnd("cli/connect", env, "--url", url, "--model", "shop-model-1");
      expect(off.stderr).toContain(`${url} did not answer; nothing was stored.`);
    },
    LONG,
  );

  test.each([
    [{ MODEL_NAME: "m" }, "MODEL_NAME also needs MODEL_BASE_URL or MODEL_PROVIDER"],
    [{ MODEL_BASE_URL: "http://a/v1" }, "also need MODEL_NAME"],
    [{ MODEL_NAME: "m", MODEL_PROVIDER: "GROQ", MODEL_BASE_URL: "http://a/v1" }, "exclude each other"],
    [
      { MODEL_NAME: "m", MODEL_PROVIDER: "NOBODY" },
      'MODEL_PROVIDER must be a provider of the catalog (OPENAI, GROQ, ANTHROPIC); got "NOBODY"',
    ],
  ])("refuses the settings %j", async (settings, told) => {
    const env: Env = { ...SETTINGS, DATABASE_URL: "postgres://127.0.0.1:1/nowhere", ...(settings as Env) };
    expect((await runToEnd("main", env)).stderr).toContain(told);
  });
});

describe("the file .env", () => {
  test("keeps other lines, replaces values and is readable by its owner only", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-connect-"));
    afterTest(() => rmSync(folder, { recursive: true }));
    const file = join(folder, ".env");
    writeFileSync(file, "# mine\nPORT=4001\nMODEL_NAME=old\nexport MODEL_API_KEY='x'\n");
    const values = { MODEL_NAME: "a b'c", MODEL_BASE_URL: "http://127.0.0.1:11434/v1" };
    writeEnv(file, values, ["MODEL_API_KEY"]);
    expect(readFileSync(file, "utf8")).toMatch(/^# mine\nPORT=4001\n/);
    expect(parseEnv(readFileSync(file, "utf8"))).toEqual({ PORT: "4001", ...values });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe("addresses", () => {
  test.each([
    ["localhost:11434", "http://localhost:11434/v1"],
    ["http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"],
    ["https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"],
    ["http://a/v1/chat/completions", "http://a/v1"],
    ['"http://127.0.0.1:8000/v1"', "http://127.0.0.1:8000/v1"],
  ])("%s means the base URL %s", (text, expected) => expect(baseUrlOf(text)).toBe(expected));

  test.each([
    ["http://127.0.0.1:1/v1", true],
    ["http://localhost:1/v1", true],
    ["http://[::1]:1/v1", true],
    ["http://192.168.1.7/v1", true],
    ["https://8.8.8.8/v1", false],
  ])("%s is private: %s", async (url, expected) => expect(await isPrivate(url)).toBe(expected));

  test("Ollama is detected with its models, and another server is not", async () => {
    const bodies: Record<string, string> = {
      "/v1/models": '{"data":[{"id":"llama3.2"}]}',
      "/api/version": '{"version":"0.12.0"}',
    };
    const server = createServer((req, res) => void res.end(bodies[req.url!] ?? "no"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterTest(() => new Promise((resolve) => server.close(resolve)));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await findOllama(address)).toEqual({ baseUrl: `${address}/v1`, models: ["llama3.2"] });
    delete bodies["/api/version"];
    expect(await findOllama(address)).toBeUndefined();
  });
});
