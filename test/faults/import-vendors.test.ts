import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { leavesOf } from "../../src/cli/import/fields";
import { mapRetell } from "../../src/cli/import/retell";
import type { Http } from "../../src/cli/import/http";
import { Report } from "../../src/cli/import/report";
import { Source } from "../../src/cli/import/source";
import { mapVapi } from "../../src/cli/import/vapi";
import { readAll } from "../../src/cli/import/vapi-list";
import type { Mapped } from "../../src/cli/import/vendor";
import type { JsonObject } from "../../src/platform/json/json-object";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTest, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { retellSample, vapiSample } from "../support/vendor-samples";

const running = useApp();
let env: Record<string, string>;
beforeAll(async () => {
  const importer = await importerOf(running.api);
  env = { PARLEY_URL: running.url, PARLEY_KEY: importer.headers["X-API-Key"]! };
});

const VENDORS: [string, JsonObject, (sample: JsonObject) => Mapped][] = [
  ["vapi", vapiSample, mapVapi],
  ["retell", retellSample, mapRetell],
];

/** A copy without the value at a path, or with another one. */
function changed(value: JsonObject, path: string, to: unknown): JsonObject {
  const copy = structuredClone(value);
  const names = path.split(".");
  const owner = names.slice(0, -1).reduce((inner, name) => inner[name] as JsonObject, copy);
  if (to === undefined) delete owner[names.at(-1)!];
  else owner[names.at(-1)!] = to;
  return copy;
}

describe.each(VENDORS)("%s", (_vendor, sample, map) => {
  // The default is the same as no value.
  const leaves = leavesOf(sample).filter((path) => path !== "retellLlmData.start_speaker");

  test.each(leaves)("%s is either mapped or listed", (path) => {
    const { input, notes } = map(sample);
    const isListed = notes.some((note) => note.startsWith(`${path} `));
    const others = [undefined, "another"].map((value) =>
      JSON.stringify(map(changed(sample, path, value)).input),
    );
    const isMapped = others.some((other) => other !== JSON.stringify(input));
    expect({ isListed, isMapped }).toEqual(isMapped ? { isListed, isMapped } : { isListed: true, isMapped });
  });

  test("single braces in a text become variables, which is listed", () => {
    const text = 'Say {word}, {{name}}, {{ name | upcase }}, { not this } and {"a": 1}.';
    const paths =
      sample === vapiSample
        ? ["firstMessage", "model.messages.0.content", "model.tools.0.function.description"]
        : ["retellLlmData.general_prompt", "retellLlmData.begin_message"];
    for (const path of paths) {
      const { notes } = map(changed({ ...sample, firstMessageMode: undefined }, path, text));
      const place = path.replace(/\.0\.content$/, "");
      expect(notes).toContain(
        `${place} contains {word} in single braces, which is a variable here: rewrite it if it is meant as it is written.`,
      );
    }
    expect(map(sample).notes.join("\n")).not.toContain("in single braces");
  });

  test("names with letters of any alphabet become variables, and other names are listed", () => {
    const path = sample === vapiSample ? "model.messages.0.content" : "retellLlmData.general_prompt";
    const { input, notes } = map(changed(sample, path, "{{prénom}}, {{ имя_1 }}, {{first name}}, {{1x}}."));
    expect(input).toMatchObject({ chat: { prompt: "{prénom}, {имя_1}, {{first name}}, {{1x}}." } });
    expect(notes).toContain(
      `${path.replace(/\.0\.content$/, "")} contains {{first name}}, {{1x}}, which is no plain variable: it stays as written.`,
    );
  });

  test("a voice that does not exist here is listed once", () => {
    const [path, value] = sample === vapiSample ? ["voice.voiceId", "nobody"] : ["voice_id", "11labs-nobody"];
    const { notes } = map(changed(sample, path!, value));
    expect(notes.filter((note) => note.startsWith(`${path} `))).toEqual([
      `${path} is "${value}", which is no voice here: another one speaks.`,
    ]);
  });

  test("a model that is not set is listed", () => {
    const path = sample === vapiSample ? "model.model" : "retellLlmData.model";
    const listed = `${path} is not set: the assistant has the model of this server.`;
    expect(map(sample).notes).not.toContain(listed);
    expect(map(changed(sample, path, undefined)).notes).toContain(listed);
    expect(map(changed(sample, path, null)).notes).toContain(listed);
  });

  test("variables in parameters become variables here, and all that nothing is filled into are listed", () => {
    const list = sample === vapiSample ? "model.tools" : "retellLlmData.general_tools";
    const tools = list.split(".").reduce((value, name) => value[name] as JsonObject, sample);
    const index = (tools as unknown as JsonObject[]).findIndex(
      (one) => "server" in one || "parameters" in one,
    );
    const tool = `${list}.${index}`;
    const path = `${tool}${sample === vapiSample ? ".function" : ""}.parameters`;
    const url = `${tool}.${sample === vapiSample ? "server.url" : "url"}`;
    const parameters = {
      description: "For {{ name }}",
      type: "object",
      properties: {
        day: {
          type: "string",
          enum: ["{{day}}", "{now}"],
          pattern: "{{day}}",
          default: "{{ day | upper }}",
        },
      },
    };
    const { input, notes } = map(
      changed(changed(sample, path, parameters), url, "https://crm.example/{{tenant}}/{% x %}"),
    );
    const [made] = (input.voice as { functions: JsonObject[] }).functions;
    expect(made).toMatchObject({
      function: {
        parameters: {
          description: "For {name}",
          properties: { day: { enum: ["{day}", "{now}"], pattern: "{{day}}", default: "{{ day | upper }}" } },
        },
      },
      server: { url: "https://crm.example/{{tenant}}/{% x %}" },
    });
    const day = `${path}.properties.day`;
    expect(notes).toEqual(
      expect.arrayContaining([
        `${url} contains {{tenant}}, {% x %}, but no variable is filled in there: it stays as written.`,
        `${day}.pattern contains {{day}}, but no variable is filled in there: it stays as written.`,
        `${day}.default contains {{ day | upper }}, which is no plain variable: it stays as written.`,
        `${day}.enum.1 contains {now} in single braces, which is a variable here: rewrite it if it is meant as it is written.`,
      ]),
    );
  });

  test("variables that the vendor sets itself are listed unless the assistant gives them a value", () => {
    const [path, values, vendor, own] =
      sample === vapiSample
        ? (["firstMessage", undefined, "Vapi", ["date", "customer.number"]] as const)
        : ([
            "retellLlmData.begin_message",
            "retellLlmData.default_dynamic_variables",
            "Retell",
            ["user_number"],
          ] as const);
    const text = `Hello {{name}}, ${own.map((name) => `{{${name}}}`).join(", ")}.`;
    const asked = changed({ ...sample, firstMessageMode: undefined }, path, text);
    expect(map(asked).remarks).toContain(
      `${vendor} sets ${own.map((name) => `{${name}}`).join(", ")} itself. Here, give a value in \`variables\` of the assistant or the conversation, or rewrite the text.`,
    );
    const given = values ? changed(asked, values, { [own[0]]: "+1" }) : sample;
    expect(map(given).remarks.join("\n")).not.toContain("itself. Here");
  });

  test("a note about a tool names it, and one about the vendor's record says so", () => {
    const [list, type, record] =
      sample === vapiSample
        ? ["model.tools", "transferCall", "orgId"]
        : ["retellLlmData.general_tools", "transfer_call", "is_published"];
    const tools = list.split(".").reduce((value, name) => value[name] as JsonObject, sample);
    const tool = `${list}.${(tools as unknown as { type: string }[]).findIndex((one) => one.type === type)}`;
    const withParts = changed(
      { ...sample, [record]: true },
      list,
      (tools as unknown as object[]).map((one) => ({ ...one, later: 1 })),
    );
    expect(map(withParts).notes).toEqual(
      expect.arrayContaining([
        `${tool}.type belongs to the tool ${type}, which has no counterpart.`,
        `${tool}.later belongs to the tool ${type}, which has no counterpart.`,
        expect.stringMatching(
          /^(model|retellLlmData)\.(general_)?tools\.\d\.later is a part of the tool \w+ without a counterpart\.$/,
        ),
        `${record} belongs to the vendor's record and is not part of an assistant.`,
      ]),
    );
  });

  test("a tool server, a time limit for events and a setting of voicemail have the reasons of their own", () => {
    const isVapi = sample === vapiSample;
    const list = isVapi ? "model.tools" : "retellLlmData.general_tools";
    const notes = map(
      changed(
        isVapi
          ? { ...sample, server: { url: "https://example.com/events", timeoutSeconds: 20 } }
          : { ...sample, webhook_timeout_ms: 20, voicemail_option: { action: { type: "hangup" } } },
        list,
        [{ type: "mcp", server: { url: "https://example.com/mcp" }, name: "crm" }],
      ),
    ).notes;
    expect(notes).toContain(
      `${list}.0.type belongs to a tool server: add it with updateToolServers, see docs/functions.md.`,
    );
    expect(notes).toContain(
      `${isVapi ? "server.timeoutSeconds" : "webhook_timeout_ms"} is a time limit for receivers of events: all destinations have the same here.`,
    );
    if (!isVapi)
      expect(notes).toContain(
        "voicemail_option.action.type belongs to the voice engine, whose own setting applies.",
      );
  });

  test("no note contains a value of a header or a secret", () => {
    expect(map(sample).notes.join("\n")).not.toMatch(/hidden|shared/);
  });

  test("an object that is no assistant gets no further than its id", () => {
    for (const odd of [{}, { id: 5, agent_id: [], model: "x", voice: null, retellLlmData: [] }])
      expect(map(odd as JsonObject).input.id).toBeUndefined();
  });
});

/** Writes a file. @returns its path */
function fileOf(content: unknown): string {
  const file = join(emptyFolder(), "export.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The answers of a vendor's service, by method and path. */
async function service(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((req, res) => {
    const { authorization } = req.headers;
    const isKnown = authorization === "Bearer vendor-key";
    const answer = isKnown ? answers[`${req.method} ${req.url}`] : undefined;
    res.writeHead(!isKnown ? 401 : answer === undefined ? 404 : 200, { "Content-Type": "application/json" });
    res.end(JSON.stringify(answer ?? { message: isKnown ? "Not Found" : "Unauthorized" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service with this list of assistants, newest first, that pages as Vapi does. */
const listing = (list: readonly { readonly createdAt: string }[]): Source =>
  new Source(
    {
      send: (url: string) => {
        const query = new URL(url).searchParams;
        const [until, before] = [query.get("createdAtLe") ?? "9", query.get("createdAtLt") ?? "9"];
        const page = list
          .filter(({ createdAt }) => createdAt <= until && createdAt < before)
          .slice(0, Number(query.get("limit")));
        return Promise.resolve({ status: 200, type: "", body: Buffer.from(JSON.stringify(page)) });
      },
    } as unknown as Http, // the only method that it uses
    "http://vendor.example",
  );

const at = (api: Api, id: string, kind = "") =>
  api.get(`/rest/v1/assistants/${id}${kind && `/${kind}`}`, 200);

/** Imports an assistant with a function without a secret, sets one, and imports it again. */
async function expectSecretsKept(vendor: string, id: string, file: string) {
  await runToEnd("cli/import", env, vendor, file);
  const read = async () => (await at(running.api, id, "chat")).functions as JsonObject[];
  const [made] = await read();
  const server = made!.server as JsonObject;
  expect(server).not.toHaveProperty("secret");
  const functions = [{ ...made, server: { ...server, secret: "set-here" } }];
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, { functions, prompt: "Changed here." }, 200);
  expect((await runToEnd("cli/import", env, vendor, file)).code).toBe(0);
  expect((await at(running.api, id, "chat")).prompt).toBe("You answer for {company}.");
  expect(await read()).toEqual(functions);
}

test("functions of Vapi get the address of their assistant with its secret, and other authentication is listed", () => {
  const [tool] = vapiSample.model.tools;
  const { input, notes } = mapVapi({
    ...vapiSample,
    serverUrlSecret: "former",
    server: { url: "https://crm.example/all", secret: "of the assistant", credentialId: "c1", headers: {} },
    model: {
      ...vapiSample.model,
      tools: [
        { type: "function", function: tool!.function },
        { ...tool, server: { url: "https://crm.example/book", credentialId: "c2" } },
      ],
    },
  });
  expect(JSON.parse(JSON.stringify(input))).toMatchObject({
    voice: {
      functions: [
        { server: { url: "https://crm.example/all", secret: "of the assistant" } },
        { server: { url: "https://crm.example/book" } },
      ],
    },
  });
  for (const path of ["server.credentialId", "model.tools.1.server.credentialId"])
    expect(notes).toContainEqual(expect.stringMatching(new RegExp(`^${path} authenticates.*secret`)));
  expect(notes.join("\n")).not.toContain("of the assistant");
});

/** Fields of a configuration that no vendor has, which stay as they are. */
const OWN =
  /^(resources|provider|voiceProvider|functions|.*Mode|keywords|quickRepliesEnabled|.*[rR]ag.*|.*Function)$/;

describe.each([
  ["vapi", { id: "bare-vapi", model: { provider: "google", model: "gemini" }, voice: { voiceId: "nobody" } }],
  ["vapi", { id: "empty-vapi", firstMessage: "" }],
  ["retell", { agent_id: "bare-retell", retellLlmData: { model: "gemini" }, voice_id: "11labs-nobody" }],
  ["retell", { agent_id: "empty-retell", response_engine: { type: "conversation-flow" } }],
])("parley import %s of %j", (vendor, given) => {
  test("lists each value that the vendor has set or would set, and this server has instead", async () => {
    const id = String(Object.values(given)[0]);
    const report = join(emptyFolder(), "report.json");
    const { code } = await runToEnd("cli/import", env, vendor, fileOf(given), "--report", report);
    expect(code).toBe(0);
    const { notTakenOver } = JSON.parse(readFileSync(report, "utf8"));
    const notes: string[] = notTakenOver.map(({ reason }: { reason: string }) => reason);
    const map = vendor === "vapi" ? mapVapi : mapRetell;
    const input = JSON.parse(JSON.stringify(map(given).input)) as Record<string, JsonObject>;
    const gaps = new Set<string>();
    for (const kind of ["voice", "sms", "chat"])
      for (const [field, value] of Object.entries(await at(running.api, id, kind)))
        if (!OWN.test(field) && !(field in input[kind]!)) {
          gaps.add(field);
          const shown = field === "model" ? value : JSON.stringify(value);
          const text = String(shown).slice(0, 40);
          const isNamed = (note: string) =>
            /is no voice here: "\w+" speaks instead\.$/.test(note)
              ? field === "voice" && note.includes(`: ${text} speaks`)
              : note.startsWith(`Parley: ${field} has no value`) &&
                note.replaceAll('"', "").includes(`it is ${text.replaceAll('"', "")}`) &&
                note.includes(kind);
          expect({ kind, field, isNamed: notes.some(isNamed) }).toEqual({ kind, field, isNamed: true });
        }
    expect([...gaps]).toEqual(expect.arrayContaining(["prompt", "model", "maxTokensOutput", "voice"]));
    expect(notes.join("\n")).toMatch(/^(Vapi|Retell): (agent_)?name is not set: the assistant is named "/m);
  });
});

test("what Vapi does without a value is what the assistant does here", () => {
  const { id, name } = vapiSample;
  expect(mapVapi({ id, name, model: {} }).input).toMatchObject({
    voice: { endCallMessage: "", endCallPhrases: "", backchanneling: false, initialMessage: "" },
  });
});

describe("parley import vapi", () => {
  const { id } = vapiSample;

  test("imports assistants of a file, and lists what has no counterpart, with one line for each reason", async () => {
    const report = join(emptyFolder(), "report.json");
    const file = fileOf([vapiSample]);
    const { code, stdout } = await runToEnd("cli/import", env, "vapi", file, "--report", report);
    expect(code).toBe(0);
    expect(stdout).toContain("assistants: 1 imported");
    expect(stdout).toContain(
      `- Vapi: maxDurationSeconds, silenceTimeoutSeconds, transcriber.provider, transcriber.model, transcriber.language, startSpeakingPlan.waitSeconds: each belongs to the voice engine, whose own setting applies. [${id}]`,
    );
    expect(JSON.parse(readFileSync(report, "utf8")).notTakenOver).toContainEqual({
      reason: "Vapi: transcriber.provider belongs to the voice engine, whose own setting applies.",
      ids: [id],
    });
    expect(stdout).toContain(
      "endCallMessage contains {{customerName}}, but no variable is filled in there: it stays as written.",
    );
    expect(await at(running.api, id)).toMatchObject({ id, name: "Front desk" });
    const functions = [
      {
        type: "function",
        function: vapiSample.model.tools[0]!.function,
        server: { url: "https://crm.example/book", secret: "shared" },
      },
    ];
    const shared = {
      prompt: "You answer for {company}.",
      initialMessage: "",
      temperature: 0.3,
      maxTokensOutput: 250,
    };
    expect(await at(running.api, id, "voice")).toMatchObject({
      ...{
        ...shared,
        functions,
        provider: "OPENAI",
        model: "GPT_4_O",
        voiceProvider: "ELEVENLABS",
        voice: "sarah",
      },
      ...{ backgroundSound: "OFFICE", backchanneling: true, endCallFunction: true, dialKeypadFunction: true },
      ...{ endCallMessage: "Goodbye, {{customerName}}.", endCallPhrases: "goodbye\nhave a nice day" },
    });
    expect(await at(running.api, id, "chat")).toMatchObject({ ...shared, functions, model: "GPT_4_O" });
  });

  test("lists functions that do not work here", async () => {
    const tools = [
      { type: "function", function: { name: "nowhere" } },
      { type: "function", function: { name: "two words" }, server: { url: "https://crm.example/a" } },
      { type: "function", function: { name: "inside" }, server: { url: "ftp://crm.example" } },
    ];
    const given = { id: "unusable", name: "Unusable", model: { tools } };
    const { code, stdout } = await runToEnd("cli/import", env, "vapi", fileOf(given));
    expect(code).toBe(0);
    expect(stdout).toContain(
      "- Parley: functions.0: The function nowhere cannot be called: it has no server.url. [unusable]",
    );
    expect(stdout).toMatch(/functions\.1: The function .*; it is never offered to a model\. \[unusable\]/);
    expect(stdout).toMatch(
      /functions\.2: The function inside cannot be called: its server\.url .*\. \[unusable\]/,
    );
  });

  test("imported again, overwrites changes made here", async () => {
    const file = fileOf({ ...vapiSample, id: "again" });
    await runToEnd("cli/import", env, "vapi", file);
    await running.api.patch("/rest/v1/assistants/again/chat", { prompt: "Changed here." }, 200);
    expect((await runToEnd("cli/import", env, "vapi", file)).code).toBe(0);
    expect((await at(running.api, "again", "chat")).prompt).toBe("You answer for {company}.");
  });

  test("imported again, keeps the secret of a function that the vendor has none for", async () => {
    const [tool] = vapiSample.model.tools;
    const tools = [{ ...tool, server: { url: "https://crm.example/book" } }];
    const file = fileOf({ ...vapiSample, id: "kept", model: { ...vapiSample.model, tools } });
    await expectSecretsKept("vapi", "kept", file);
  });

  test("imported twice, changes nothing", async () => {
    const file = fileOf({ assistants: [vapiSample] });
    await runToEnd("cli/import", env, "vapi", file);
    const read = () =>
      running.api.gql(
        "query ($id: ID!) { assistant(id: $id) { updatedAt createdAt voice { prompt functions } } }",
        { id },
      );
    const before = await read();
    const { createdAt, updatedAt } = vapiSample;
    expect(before.assistant).toMatchObject({ createdAt, updatedAt });
    await runToEnd("cli/import", env, "vapi", file);
    expect(await read()).toEqual(before);
  });

  test("reads assistants and the tools that they name with a key", async () => {
    const own = {
      ...vapiSample,
      id: "by-key",
      model: { ...vapiSample.model, tools: [], toolIds: ["tool-1"] },
    };
    const tool = { id: "tool-1", type: "function", function: { name: "found" } };
    const url = await service({ "GET /assistant?limit=100": [own], "GET /tool/tool-1": tool });
    const from = ["vapi", "--from", url, "--from-key", "vendor-key"];
    const { code, stdout } = await runToEnd("cli/import", env, ...from);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("assistants: 1 imported") });
    const { functions } = await at(running.api, "by-key", "voice");
    expect(functions).toMatchObject([
      { function: { name: "found" }, server: { url: "https://crm.example/vapi" } },
    ]);
  });

  test.each([
    [250, 0],
    [1_100, 2],
  ])(
    "reads a list in which %d assistants have the same time of creation, or says that some are missing",
    async (count, code) => {
      const time = "2025-03-01T10:00:00.000Z";
      const assistants = Array.from({ length: count }, (_, index) => ({
        id: `same-${index}`,
        createdAt: time,
      }));
      const list = [
        { id: "newer", createdAt: "2025-03-02T10:00:00.000Z" },
        ...assistants,
        { id: "older", createdAt: "2025-02-01T10:00:00.000Z" },
      ];
      const report = new Report();
      const found = (await readAll(listing(list), report)) as { id: string }[];
      const ids = new Set(found.map(({ id }) => id));
      expect(["newer", "older"].every((id) => ids.has(id))).toBe(true);
      expect(ids.size).toBe(code === 0 ? count + 2 : 1_002);
      expect(report.isIncomplete).toBe(code === 2);
      if (code === 2)
        expect(report.lines().join("\n")).toContain(`more than 1000 assistants with createdAt ${time}`);
    },
  );

  test("says so if the key is wrong", async () => {
    const url = await service({});
    const { code, stderr } = await runToEnd("cli/import", env, "vapi", "--from", url, "--from-key", "wrong");
    expect([code, stderr]).toEqual([1, expect.stringContaining("status 401 (Unauthorized)")]);
  });
});

test.each([
  ["vapi", "GET /assistant?limit=100"],
  ["retell", "POST /v2/list-agents?limit=100"],
])(
  "a service of %s that answers without a list is named, and not read as one without assistants",
  async (vendor, path) => {
    const url = await service({ [path]: { message: "Under maintenance" } });
    const { code, stdout, stderr } = await runToEnd(
      "cli/import",
      env,
      vendor,
      "--from",
      url,
      "--from-key",
      "vendor-key",
    );
    expect([code, stdout, stderr]).toEqual([
      1,
      "",
      expect.stringContaining("with something else than a list."),
    ]);
  },
);

describe("parley import retell", () => {
  const { agent_id: id, retellLlmData, ...agent } = retellSample;
  const shared = {
    prompt: "You answer for {company}.",
    initialMessage: "Hello {customer_name}.",
    temperature: 0.2,
  };

  test("imports agents of a file", async () => {
    const { code, stdout } = await runToEnd("cli/import", env, "retell", fileOf(retellSample));
    expect(code).toBe(0);
    expect(stdout).toContain(
      "retellLlmData.mcps.0.name, retellLlmData.mcps.0.url: each is a tool server: add it with updateToolServers.",
    );
    expect(await at(running.api, id)).toMatchObject({
      name: "Front desk",
      variables: { company: "Example" },
    });
    const voice = await at(running.api, id, "voice");
    expect(voice).toMatchObject({
      ...{ ...shared, model: "GPT_4_O_MINI", voiceProvider: "OPENAI", voice: "nova" },
      ...{ backgroundSound: "OFFICE", backchanneling: true, endCallFunction: true, dialKeypadFunction: true },
    });
    expect(voice.functions).toMatchObject([
      { function: { name: "book" }, server: { url: "https://crm.example/book" } },
    ]);
    expect(voice.functions).toHaveLength(1);
  });

  test("gives agents whose id the dashboard has removed the ids of their response engines", async () => {
    const exported = { ...retellSample, agent_id: "", agent_name: "Exported" };
    const flow = { type: "conversation-flow", conversation_flow_id: "conversation_flow_1" };
    const file = fileOf([exported, { ...exported, response_engine: flow, retellLlmData: null }]);
    const { code, stdout } = await runToEnd("cli/import", env, "retell", file);
    expect([code, stdout]).toEqual([0, expect.stringContaining("assistants: 2 imported")]);
    expect(stdout).toContain("The file has no agent_id: the assistant has the id of the response engine");
    expect(await at(running.api, "llm_1")).toMatchObject({ name: "Exported" });
    expect(await at(running.api, "conversation_flow_1")).toMatchObject({ name: "Exported" });
    const again = await runToEnd("cli/import", env, "retell", file);
    expect(again.stdout).toContain("assistants: 0 imported, 2 already here");
  });

  test.each(["form", "json", undefined])(
    "a function whose parameters have the editor %j is imported",
    (editor) => {
      const tool = { ...retellLlmData.general_tools[2], parameter_type: editor };
      const { input, notes } = mapRetell({
        ...retellSample,
        retellLlmData: { ...retellLlmData, general_tools: [tool] },
      });
      expect(input).toMatchObject({ chat: { functions: [{ function: { name: "book" } }] } });
      expect(notes.join("\n")).not.toContain("parameter_type");
    },
  );

  test("lists a conversation flow in one sentence", () => {
    const nodes = [{ id: "a", instruction: { type: "prompt", text: "Ask {{name}}." } }, { id: "b" }];
    const { notes } = mapRetell({ ...retellSample, conversationFlow: { global_prompt: "Be kind.", nodes } });
    expect(notes.filter((note) => note.includes("conversationFlow"))).toEqual([
      "conversationFlow is a conversation flow: build a workflow for it.",
    ]);
  });

  test("imported again, keeps the secrets of functions", async () => {
    await expectSecretsKept("retell", "kept-retell", fileOf({ ...retellSample, agent_id: "kept-retell" }));
  });

  test("reads agents and their response engines with a key, page after page", async () => {
    const second = { ...agent, agent_id: "second", response_engine: { type: "conversation-flow" } };
    const url = await service({
      "POST /v2/list-agents?limit=100": {
        items: [{ agent_id: "first" }],
        has_more: true,
        pagination_key: "k 1",
      },
      "POST /v2/list-agents?limit=100&pagination_key=k%201": {
        items: [{ agent_id: "second" }],
        has_more: false,
      },
      "GET /get-agent/first": { ...agent, agent_id: "first" },
      "GET /get-agent/second": second,
      "GET /get-retell-llm/llm_1?version=3": retellLlmData,
    });
    const from = ["retell", "--from", url, "--from-key", "vendor-key"];
    const { code, stdout } = await runToEnd("cli/import", env, ...from);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("assistants: 2 imported") });
    expect(stdout).toMatch(/The response engine is not in the file .* \[second\]/);
    expect(await at(running.api, "first", "voice")).toMatchObject(shared);
  });

  test("reads agents to the end of a list that says there is more, and begins again", async () => {
    const page = { items: [{ agent_id: "only" }], has_more: true, pagination_key: "k" };
    const url = await service({
      "POST /v2/list-agents?limit=100": page,
      "POST /v2/list-agents?limit=100&pagination_key=k": page,
      "GET /get-agent/only": { ...agent, agent_id: "only", response_engine: { type: "conversation-flow" } },
    });
    const from = ["retell", "--from", url, "--from-key", "vendor-key"];
    const { code, stdout } = await runToEnd("cli/import", env, ...from);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("assistants: 1 imported") });
  });

  test("lists an agent whose response engine is gone, and imports the others", async () => {
    const url = await service({
      "POST /v2/list-agents?limit=100": { items: [{ agent_id: "broken" }, { agent_id: "whole" }] },
      "GET /get-agent/broken": { ...agent, agent_id: "broken" },
      "GET /get-agent/whole": { ...agent, agent_id: "whole", response_engine: { type: "custom-llm" } },
    });
    const from = ["retell", "--from", url, "--from-key", "vendor-key"];
    const { code, stdout } = await runToEnd("cli/import", env, ...from);
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringContaining("assistants: 1 imported") });
    expect(stdout).toMatch(/This agent was not read: .*get-retell-llm\/llm_1.* status 404.* \[broken\]/);
  });
});

describe("a file", () => {
  test.each<[string, string, unknown, string]>([
    ["no JSON", "vapi", "{", "cannot be read as JSON"],
    ["no assistant", "vapi", [], "contains no assistant of Vapi."],
    ["an empty object", "vapi", {}, "contains no assistant of Vapi."],
    ["an object of another form", "vapi", { foo: [1] }, "contains no assistant of Vapi."],
    ["an agent of Retell", "vapi", [retellSample], "contains no assistant of Vapi."],
    ["an assistant of Vapi", "retell", vapiSample, "contains no agent of Retell."],
  ])("with %s for %s is explained, and nothing else is said", async (_, vendor, content, message) => {
    const { code, stdout, stderr } = await runToEnd("cli/import", env, vendor, fileOf(content));
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
  });

  test.each([
    ["vapi", "a squad", { id: "s", name: "Squad", members: [{ assistantId: "a" }] }],
    ["vapi", "a workflow", { id: "w", name: "Flow", model: {}, nodes: [], edges: [] }],
    ["vapi", "a tool", { id: "t", type: "function", function: { name: "book" } }],
    ["vapi", "a phone number", { id: "p", name: "Desk", provider: "vapi", number: "+14155550123" }],
    ["vapi", "a call", { id: "c", type: "webCall", assistantId: "a", transport: {} }],
    ["vapi", "a chat", { id: "c", name: "Chat", assistantId: "a", input: "Hello" }],
    ["retell", "a call", { call_id: "c", agent_id: "a", agent_name: "Desk", transcript: "" }],
    ["retell", "a chat", { chat_id: "c", agent_id: "a", transcript: "" }],
    ["retell", "a test case", { test_case_definition_id: "t", response_engine: { type: "retell-llm" } }],
  ])("of %s with %s makes no empty assistant of it", async (vendor, _, content) => {
    const { code, stderr } = await runToEnd("cli/import", env, vendor, fileOf([content]));
    expect([code, stderr]).toEqual([1, expect.stringContaining("contains no ")]);
  });

  test("that does not exist, or is a folder, is named", async () => {
    const folder = emptyFolder();
    const [file, below] = [join(folder, "none.json"), fileOf(vapiSample)];
    for (const [path, message] of [
      [file, `There is no file ${file}.`],
      [join(below, "x"), `There is no file ${join(below, "x")}.`],
      [folder, `${folder} is a folder.`],
    ] as const)
      expect((await runToEnd("cli/import", env, "vapi", path)).stderr).toContain(message);
  });

  test("with a byte order mark is imported", async () => {
    const content = `\uFEFF${JSON.stringify({ ...vapiSample, id: "marked" })}`;
    expect(await runToEnd("cli/import", env, "vapi", fileOf(content))).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining("assistants: 1 imported") },
    });
  });

  test.each([
    [
      "UTF-16, as a redirection of PowerShell writes it",
      (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le"),
    ],
    ["big-endian UTF-16", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
  ])("in %s is imported", async (_, encoded) => {
    const file = join(emptyFolder(), "assistants.json");
    writeFileSync(file, encoded(JSON.stringify({ ...vapiSample, id: "wide", name: "René" })));
    expect(await runToEnd("cli/import", env, "vapi", file)).toMatchObject({ code: 0, stderr: "" });
    expect(await at(running.api, "wide")).toMatchObject({ name: "René" });
  });

  test("in another encoding is refused, because its letters would be lost", async () => {
    const file = join(emptyFolder(), "assistants.json");
    writeFileSync(file, JSON.stringify({ ...vapiSample, id: "latin", name: "René" }), "latin1");
    const { code, stdout, stderr } = await runToEnd("cli/import", env, "vapi", file);
    expect([code, stdout, stderr.trim()]).toEqual([
      1,
      "",
      `The file ${file} is not in UTF-8. Save it in UTF-8.`,
    ]);
  });

  test("with an entry that is nested too deeply lists it and imports the others", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const entries = [
      { ...vapiSample, metadata: "deep" },
      { ...vapiSample, id: "shallow" },
    ];
    const content = JSON.stringify(entries).replace('"deep"', deep);
    const { code, stdout } = await runToEnd("cli/import", env, "vapi", fileOf(content));
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining("Entry 1 has values that are nested too deeply."),
    ]);
    expect(stdout).toContain("assistants: 1 imported");
  });

  test("with an entry of another vendor lists it and imports the others", async () => {
    const content = [retellSample, { ...vapiSample, id: "beside" }];
    const { code, stdout } = await runToEnd("cli/import", env, "vapi", fileOf(content));
    expect([code, stdout]).toEqual([2, expect.stringContaining("Entry 1 is no assistant of Vapi.")]);
    expect(stdout).toContain("assistants: 1 imported");
  });

  test("with an unknown provider or model names the values and says which model applies", () => {
    const model = { ...vapiSample.model, provider: "custom-llm", model: "mine-1" };
    const { notes } = mapVapi({ ...vapiSample, model });
    for (const [field, value] of Object.entries({ provider: "custom-llm", model: "mine-1" }))
      expect(notes).toContain(
        `model.${field} is "${value}", which has no counterpart: the assistant has the model of this server. See docs/models.md.`,
      );
  });

  test("with a model of a region gives the model", () => {
    const model = { ...vapiSample.model, model: "gpt-4o-2024-11-20:westus3" };
    expect(mapVapi({ ...vapiSample, model }).input).toMatchObject({ chat: { model: "GPT_4_O" } });
  });

  test.each([
    ["vapi", { assistants: ["text", null, { ...vapiSample, id: "among" }] }],
    ["retell", ["text", null, { ...retellSample, agent_id: "among" }]],
  ])("of %s with entries that are no objects lists them and imports the others", async (vendor, content) => {
    const { code, stdout } = await runToEnd("cli/import", env, vendor, fileOf(content));
    expect([code, stdout]).toEqual([2, expect.stringContaining("Entry 1 is no object.")]);
    expect(stdout).toContain("Entry 2 is no object.");
    expect(stdout).toMatch(/assistants: (1 imported|0 imported, 1 already here)/);
  });

  test.each([
    ["vapi", "assistant", { ...vapiSample, id: "twice", name: "Newer" }, { name: "Older" }],
    [
      "retell",
      "agent",
      { ...retellSample, agent_id: "versions", agent_name: "Newer" },
      { agent_name: "Older" },
    ],
  ])("of %s with an id twice keeps the first %s and lists the other", async (vendor, noun, first, other) => {
    const file = fileOf([first, { ...first, ...other }]);
    const { code, stdout } = await runToEnd("cli/import", env, vendor, file);
    const id = vendor === "vapi" ? "twice" : "versions";
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining(
        `Entry 2 has the id of entry 1: it was left out. Name a file that has each ${noun} once. [${id}]`,
      ),
    ]);
    expect(stdout).toContain("assistants: 1 imported");
    expect(await at(running.api, id)).toMatchObject({ name: "Newer" });
  });

  test("with a record that is refused lists no values of it that were left out", async () => {
    const model = { ...vapiSample.model, maxTokens: 0 };
    const entries = [{ ...vapiSample, id: "refused", name: "N".repeat(256), model }];
    const { code, stdout } = await runToEnd("cli/import", env, "vapi", fileOf(entries));
    expect([code, stdout]).toEqual([2, expect.stringContaining("This assistant was refused: ")]);
    expect(stdout).not.toContain("was left out");
  });

  test.each([null, "", " "])("with an assistant that has the name %j names it by its id", (name) => {
    expect(mapVapi({ ...vapiSample, id: "a", name }).input.name).toBe("Vapi assistant a");
    expect(mapRetell({ ...retellSample, agent_id: "a", agent_name: name }).input.name).toBe("Retell agent a");
  });

  test.each<[string, JsonObject, string, string]>([
    ["vapi", vapiSample, "id", "assistant"],
    ["retell", { ...retellSample, response_engine: null, retellLlmData: null }, "agent_id", "agent"],
  ])("of %s with an entry without an id says how to add one, and imports the others", async (...row) => {
    const [vendor, { [row[2]]: _, ...without }, name, noun] = [row[0], row[1], row[2], row[3]];
    const file = fileOf([without, { ...without, [name]: `whole-${vendor}` }]);
    const { code, stdout } = await runToEnd("cli/import", env, vendor, file);
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining(
        `Entry 1 has no ${name}. Add one to the file: any text of at most 255 characters that no other ${noun} has. Another import with the same ${name} changes the same assistant.`,
      ),
    ]);
    expect(stdout).toContain("assistants: 1 imported");
  });

  test.each([
    ["vapi", { ...vapiSample, id: "voiceless", voice: { provider: "11labs", voiceId: "adrian" } }],
    ["retell", { ...retellSample, agent_id: "voiceless-too", voice_id: "11labs-adrian" }],
  ])("of %s with a voice that does not exist here names it and the other one in one line", async (...row) => {
    const [vendor, agent] = row;
    const { stdout } = await runToEnd("cli/import", env, vendor, fileOf(agent));
    const lines = stdout.split("\n").filter((line) => /adrian|burt/.test(line));
    expect(lines).toEqual([
      expect.stringMatching(
        /^ {2}- (Vapi: voice\.voiceId is "|Retell: voice_id is "11labs-)adrian", which is no voice here: "burt" speaks instead\. /,
      ),
    ]);
  });

  test.each([
    ["vapi", "Vapi", vapiSample],
    ["retell", "Retell", retellSample],
  ])("of %s is reported with the side to which each field belongs", async (vendor, name, sample) => {
    const report = join(emptyFolder(), "report.json");
    const odd = { ...sample, name: undefined, agent_name: undefined };
    const { code } = await runToEnd("cli/import", env, vendor, fileOf(odd), "--report", report);
    expect(code).toBe(0);
    const { notTakenOver } = JSON.parse(readFileSync(report, "utf8"));
    const reasons: string[] = notTakenOver.map(({ reason }: { reason: string }) => reason);
    const theirs = leavesOf(sample);
    const isTheirs = (reason: string) => theirs.some((path) => reason.startsWith(`${name}: ${path} `));
    const others = reasons.filter((reason) => !isTheirs(reason));
    expect(others.length).toBeLessThan(reasons.length);
    for (const reason of others)
      expect(reason).toMatch(
        /^(Parley: \w+ has no value|Servers of functions|(Vapi|Retell): (agent_)?name is not set)/,
      );
  });

  test(
    "with values that are not allowed imports the assistant without them",
    async () => {
      const model = { ...vapiSample.model, temperature: 9 };
      const { stdout } = await runToEnd(
        "cli/import",
        env,
        "vapi",
        fileOf({ ...vapiSample, id: "odd", model }),
      );
      expect(stdout).toContain(
        "- Parley: voice.temperature of this assistant was left out: must be from 0 to 2; got 9. [odd]",
      );
      expect(await at(running.api, "odd", "voice")).toMatchObject({ temperature: 0.7, maxTokensOutput: 250 });
    },
    SERVER_TIMEOUT_MS,
  );
});

test.each([
  ["vapi", { ...vapiSample, id: "unset-vapi", model: { provider: "openai", model: "gpt-4o" } }],
  ["retell", { ...retellSample, agent_id: "unset-retell", retellLlmData: { general_prompt: "Be kind." } }],
])(
  "an assistant of %s without a temperature gets 0, which is the vendor's default",
  async (vendor, entry) => {
    await runToEnd("cli/import", env, vendor, fileOf(entry));
    expect((await at(running.api, `unset-${vendor}`, "chat")).temperature).toBe(0);
  },
);
