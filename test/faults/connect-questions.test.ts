import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { query } from "../support/installation";
import { freePort } from "../support/free-port";
import { afterTest, preparedDatabase, SERVER_TIMEOUT_MS, SETTINGS, type Env } from "../support/server";
import { stubProviders } from "../support/stub-providers";
import { CTRL_C, CTRL_D, HAS_TERMINALS, openTerminal } from "../support/terminal";

const LONG = 3 * SERVER_TIMEOUT_MS;
/** A port at which nothing listens, so that no Ollama of this machine is found. */
const NO_OLLAMA = { OLLAMA_HOST: "127.0.0.1:1" };

async function providers(key?: string) {
  const server = await stubProviders(key);
  afterTest(server.stop);
  return server;
}
async function connect(env: Env) {
  const url = await preparedDatabase();
  return {
    url,
    terminal: openTerminal("cli/connect", { ...SETTINGS, DATABASE_URL: url, ...NO_OLLAMA, ...env }),
  };
}
const stored = async (url: string) => ({
  credentials: (await query<{ provider: string }>(url, "select provider from model_credentials")).map(
    ({ provider }) => provider,
  ),
  mappings: (await query(url, "select 1 from model_mappings")).length > 0,
});
const envIn = (folder: string) => parseEnv(readFileSync(join(folder, ".env"), "utf8"));

// The summary of the run names what the machine lacks.
if (!HAS_TERMINALS)
  test.todo("asks its questions at a terminal: apt-get install bsdutils, which has the program script");
(HAS_TERMINALS ? describe : describe.skip)("npm run connect at a terminal", () => {
  test.each([
    ["OPENAI", "1"],
    ["GROQ", "2"],
    ["ANTHROPIC", "3"],
  ])(
    "connects %s, after a number that is not there and a wrong key, neither of which is shown",
    async (provider, number) => {
      const server = await providers("sk-right");
      const { url, terminal } = await connect({ [`${provider}_BASE_URL`]: server.url });
      await terminal.answer("Number [1]: ", "9");
      await terminal.answer("Number [1]: ", number);
      await terminal.answer(`Key of ${provider}: `, "sk-wrong");
      await terminal.answer("Number [1]: ", number);
      await terminal.answer(`Key of ${provider}: `, "sk-right");
      expect(await terminal.ended()).toBe(0);
      const shown = terminal.shown();
      expect(shown).toContain("Type a number from 1 to 4, or an address such as");
      expect(shown).toContain(`${provider} refused the request; nothing was stored.`);
      expect(shown).toMatch(/It answered in \d+ ms: Hello\.\nStored for the default organization/);
      expect(shown).not.toMatch(/sk-(right|wrong)/);
      expect(server.keys).toEqual(["sk-right"]);
      expect((await stored(url)).credentials).toEqual([provider]);
    },
    LONG,
  );

  test(
    "offers the Ollama of this computer as first choice, and writes it to .env",
    async () => {
      const server = await providers();
      const { terminal, url } = await connect({ OLLAMA_HOST: server.address });
      await terminal.answer("Number [1]: ", "");
      await terminal.answer("Model [llama3.2]: ", "qwen3");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.shown()).toContain("  1  Ollama on this computer (llama3.2, qwen3)\n  2  OPENAI\n");
      expect(envIn(terminal.cwd)).toEqual({ MODEL_NAME: "qwen3", MODEL_BASE_URL: server.url });
      expect(await stored(url)).toEqual({ credentials: [], mappings: false });
    },
    LONG,
  );

  test.each([
    ["chosen by its number", true],
    ["typed in place of a number", false],
  ])(
    "asks an address that is %s for its models, and writes it to .env with its key",
    async (_how, isNumbered) => {
      const server = await providers("sk-private");
      const { terminal } = await connect({});
      await terminal.answer("Number [1]: ", isNumbered ? "4" : server.address);
      if (isNumbered) await terminal.answer("Address [http://127.0.0.1:11434/v1]: ", server.url);
      await terminal.answer("Key (empty if none): ", "sk-private");
      await terminal.answer("Model [llama3.2]: ", "");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.shown()).toContain("Models there: llama3.2, qwen3");
      expect(terminal.shown()).not.toContain("sk-private");
      expect(envIn(terminal.cwd)).toEqual({
        MODEL_NAME: "llama3.2",
        MODEL_BASE_URL: server.url,
        MODEL_API_KEY: "sk-private",
      });
    },
    LONG,
  );

  test(
    "says that an address refuses the connection before it asks for a key",
    async () => {
      const address = `http://127.0.0.1:${await freePort()}/v1`;
      const { terminal } = await connect({});
      await terminal.answer("Number [1]: ", address);
      await terminal.answer("Number [1]: ", CTRL_C);
      expect(await terminal.ended()).toBe(1);
      expect(terminal.shown()).toContain(`${address} refused the connection: check the address and the port`);
      expect(terminal.shown()).not.toContain("Key (empty if none)");
    },
    LONG,
  );

  test.each<[when: string, key: string, answers: [question: string, typed: string][]]>([
    ["Ctrl+C at the first question", CTRL_C, []],
    ["Ctrl+D at the first question", CTRL_D, []],
    ["Ctrl+C at the key", CTRL_C, [["Number [1]: ", "ADDRESS"]]],
  ])(
    "stores nothing after %s",
    async (_when, key, answers) => {
      const { address } = await providers();
      const { url, terminal } = await connect({});
      for (const [question, typed] of answers)
        await terminal.answer(question, typed.replace("ADDRESS", address));
      await terminal.answer(answers.length > 0 ? "Key (empty if none): " : "Number [1]: ", key);
      expect(await terminal.ended()).toBe(1);
      expect(terminal.shown()).toMatch(/Aborted\. Nothing was stored\.\n$/);
      expect(existsSync(join(terminal.cwd, ".env"))).toBe(false);
      expect(await stored(url)).toEqual({ credentials: [], mappings: false });
    },
    LONG,
  );
});
