import { beforeAll, describe, expect, test } from "@jest/globals";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { startApp, useApp } from "../support/app";
import { assistantWith } from "../support/shapes";
import { swapsOf } from "../support/swaps";

const running = useApp();
const ASSISTANTS = "/rest/v1/assistants";
let id = "";

beforeAll(async () => {
  id = (await running.api.post(ASSISTANTS, { name: "Ada" }, 200)).id;
});

describe("an unknown field", () => {
  test("is named in the error, with a suggestion if a known one is similar", async () => {
    const { details } = await running.api.post(ASSISTANTS, { name: "A", descripton: "d", zzz: 1 }, 400);
    expect(details).toEqual([
      { path: "descripton", message: 'is not a known field. Did you mean "description"?' },
      { path: "zzz", message: "is not a known field" },
    ]);
  });

  test.each(
    ["name", "description", "variables"].flatMap((name) => swapsOf(name).map((swapped) => [swapped, name])),
  )("%s, with swapped letters, is named with %s", async (swapped, name) => {
    const { details } = await running.api.post(ASSISTANTS, { name: "A", [swapped!]: "x" }, 400);
    const message = `is not a known field. Did you mean "${name}"?`;
    expect(details).toEqual([{ path: swapped, message }]);
  });

  const PARTS = ["", "/voice", "/sms", "/chat", "/theme"];
  const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
  const patch = (part: string) =>
    rows.find(
      ({ method, path }) => method === "patch" && path.replace(/\/:\w+/, "") === `${ASSISTANTS}${part}`,
    )!;
  const parts = PARTS.map((part) => patch(part));
  const cases = [...parts, rows.find(({ id }) => id === "createAssistant")!].flatMap((route) =>
    [...new Set(parts.flatMap(({ operation }) => operation!.bodyFields))]
      .filter((name) => !route.operation!.bodyFields.includes(name) && !route.operation!.readOnly.has(name))
      .map((name) => ({ route, method: route.method, path: route.path, name })),
  );

  test.each(cases)("$name of $method $path names the paths that take it", async ({ route, name }) => {
    const paths = parts.filter(({ operation }) => operation!.bodyFields.includes(name));
    const path = route.path.replace(/:\w+/, id);
    const { body } = await running.api.request(route.method.toUpperCase(), path, { [name]: "x" });
    const message = body.details.find((problem: { path: string }) => problem.path === name).message as string;
    const named = message.replace("is not a field of this request. Set it with PATCH ", "").split(/, | or /);
    expect(named).toEqual(paths.map((one) => one.path.replace(/:(\w+)/, "{$1}")));
  });

  test("of a configuration in a request that names an assistant gets the same advice", async () => {
    const { details } = await running.api.post("/rest/v1/ai-chats", { assistantId: id, prompt: "Hi" }, 400);
    expect(details).toEqual([
      {
        path: "prompt",
        message:
          "is not a field of this request. Set it with PATCH /rest/v1/assistants/{assistantId}/voice, /rest/v1/assistants/{assistantId}/sms or /rest/v1/assistants/{assistantId}/chat",
      },
    ]);
  });

  test("is ignored with REST_UNKNOWN_FIELDS=ignore, but invalid values of known fields are rejected", async () => {
    const { api, stop } = await startApp(running.database, { REST_UNKNOWN_FIELDS: "ignore" });
    try {
      const made = await api.post(ASSISTANTS, { name: "A", zzz: 1, id: "mine", template: true }, 200);
      expect(made).toEqual(assistantWith({ name: "A" }));
      await api.patch(`${ASSISTANTS}/${made.id}/voice`, { zzz: 1 }, 200);
      await api.post(ASSISTANTS, { name: 5, zzz: 1 }, 400);
    } finally {
      await stop();
    }
  });

  test("of a response can be sent back: every resource accepts the body that was read", async () => {
    const { api } = running;
    const key = await api.post("/rest/v1/organization/keys", { type: "PUBLIC" }, 200);
    const webhook = await api.post("/rest/v1/settings", { url: "https://example.com", secret: "s" }, 201);
    const readable = ["", "/voice", "/sms", "/chat", "/theme"].map((part) => `${ASSISTANTS}/${id}${part}`);
    for (const path of [...readable, `/rest/v1/organization/keys/${key.id}`]) {
      const read = await api.get(path, 200);
      expect(await api.patch(path, read, 200)).toEqual(read);
      await api.patch(path, { ...read, zzz: 1 }, 400);
    }
    const { updatedAt: _, ...same } = webhook;
    expect(await api.patch(`/rest/v1/settings/${webhook.id}`, webhook, 200)).toMatchObject(same);
  });
});
