import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { Api } from "../support/api";
import type { RunningApp } from "../support/app";
import { newFlow } from "../support/flows";
import type { ProcessResult } from "../support/server";

const PROGRAM = resolve(__dirname, "../../src/cli/parley.cjs");

/** A folder with files, and the server and environment for which commands run in it. */
export class Workplace {
  constructor(
    readonly folder: string,
    readonly running: Pick<RunningApp, "url" | "secretKey">,
    readonly environment: Readonly<Record<string, string>> = {},
  ) {}

  /** Runs a command as a process. @param watch gets its output while it runs */
  async run(args: readonly string[], watch?: (line: string, pid: number) => void): Promise<ProcessResult> {
    const child = this.start(args);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        said[name] += text;
        watch?.(text, child.pid!);
      });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, ...said };
  }

  /** Runs a command whose output nobody reads. @returns the exit code */
  async runUnread(args: readonly string[]): Promise<number | null> {
    const child = this.start(args);
    child.stdout.destroy();
    child.stderr.destroy();
    const [code] = (await once(child, "close")) as [number | null];
    return code;
  }

  /** Runs a command while `work` is done between its requests that read and those that change. */
  async runBeside(work: () => Promise<unknown>, args: readonly string[]): Promise<ProcessResult> {
    const { url, stop } = await beforeFirstMutation(this.running.url, work);
    try {
      return await new Workplace(this.folder, { ...this.running, url }, this.environment).run(args);
    } finally {
      stop();
    }
  }

  private start(args: readonly string[]) {
    const { PATH = "", HOME = "" } = process.env;
    const { url, secretKey } = this.running;
    return spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.folder,
      env: { PATH, HOME, PARLEY_URL: url, PARLEY_KEY: secretKey, ...this.environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Contents of all files, by path. */
  files(): Record<string, string> {
    const names = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    return Object.fromEntries(
      files.sort().map((path) => [path.slice(this.folder.length + 1), readFileSync(path, "utf8")]),
    );
  }

  write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  remove(path: string): void {
    rmSync(join(this.folder, path));
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  replace(path: string, from: string | RegExp, to: string): void {
    this.write(path, this.read(path).replace(from, to));
  }
}

/**
 * A way to a server on which something happens between the requests that read and those that change.
 * @param mutation text of the first request that waits for it
 * @param watch gets the body of each request
 */
export async function beforeFirstMutation(
  url: string,
  work: () => Promise<unknown>,
  mutation = "mutation",
  watch: (body: string) => void = () => undefined,
) {
  let done: Promise<unknown> | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = await request.toArray();
      const body = Buffer.concat(chunks);
      watch(body.toString());
      if (body.includes(mutation)) await (done ??= work());
      const { "x-api-key": key = "", "content-type": type = "" } = request.headers;
      const answer = await fetch(`${url}${request.url}`, {
        method: request.method!,
        headers: { "X-API-Key": String(key), ...(type && { "Content-Type": type }) },
        ...(request.method === "POST" && { body }),
      });
      response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type")! });
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

const FUNCTIONS = [
  {
    name: "find_order",
    description: "Finds an order",
    parameters: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
    serverUrl: "https://example.com/find",
    secretKey: "a-stored-secret",
  },
  {
    type: "function",
    function: { name: "book", description: "Books", parameters: { type: "object", properties: {} } },
    server: { url: "https://example.com/book", secret: "another-secret" },
  },
];

const CONFIGURE = `mutation ($id: ID!, $chat: UpdateChatConfigurationInput!, $voice: UpdateVoiceConfigurationInput!) {
  updateChatConfiguration(assistantId: $id, input: $chat) { id }
  updateVoiceConfiguration(assistantId: $id, input: $voice) { id }
  updateThemeConfiguration(assistantId: $id, input: { theme: { title: "Acme", primaryColor: "#0f766e" } }) { id }
  updateRagSettings(assistantId: $id, channel: TEXT, input: { isRagEnabled: true }) { id }
  updateAllowedOrigins(assistantId: $id, origins: ["https://www.example.com"]) { id } }`;

export const PROMPT =
  "You are the receptionist of {company}.\n\n- Be brief: # friendly\n- 'Quotes' \"too\"  \n\n";

/** Makes records of every kind, without keys. @returns the id of the assistant */
export async function makeRecords(api: Api): Promise<string> {
  const { createAssistant } = await api.gql(
    'mutation { createAssistant(input: { name: "Front désk", variables: { company: "Acme", count: 3 }, missingVariables: BLANK }) { id } }',
  );
  const id = createAssistant.id as string;
  await api.gql(CONFIGURE, {
    id,
    chat: { prompt: PROMPT, resources: "We open at nine.", functions: FUNCTIONS, temperature: 0.3 },
    voice: { prompt: "Say hello." },
  });
  const form = new FormData();
  form.set("file", new Blob(["Opening hours: 9 to 5"], { type: "text/plain" }), "hours.txt");
  const { id: fileId } = await api.post("/rest/v1/files/upload", form, 201);
  await api.gql(
    "mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }",
    {
      id,
      fileId,
    },
  );
  await api.gql(
    'mutation { createWebhookDestination(input: { name: "CRM", url: "https://example.com/hook", secret: "a-hook-secret", events: ["session-end"] }) { id } }',
  );
  const { workflowId } = await newFlow(
    api,
    {
      start: { type: "START", name: "Start" },
      talk: { type: "PROMPT", name: "Talk", assistantId: id, instructions: "Ask for the name.\nThen stop." },
      again: { type: "PROMPT", name: "Talk", assistantId: id, metadata: { x: 1 } },
      end: { type: "END", name: "End", message: "Bye" },
    },
    [
      ["start", "talk"],
      ["talk", "again", { kind: "MODEL", description: "More to say", collects: ["name"], rank: 2 }],
      ["talk", "end", { kind: "VARIABLE", variable: "done", operator: "EQUALS", value: "1", rank: 1 }],
      ["again", "end"],
    ],
    { name: "Intake" },
  );
  const deploy = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  await api.gql(deploy, { input: { type: "TEXT_BUBBLE", assistantId: id } });
  await api.gql(deploy, { input: { type: "API", workflowId, enabled: false } });
  return id;
}
