import { inspect } from "node:util";
import { describe, expect, test } from "@jest/globals";
import type { Parley, ParleyError as ClientError } from "../../src/web/client";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { createClient, ParleyError } from "./client";
import { type Fault, unreliable } from "./unreliable";

const running = useApp();
const CREATE = "mutation ($name: String!) { createAssistant(input: { name: $name }) { id } }";
const NAMES = "query ($search: String!) { assistants(search: $search) { data { name } } }";

const client = (url: string, options: object = {}) =>
  createClient({ url, key: running.secretKey, ...options });

/** The ways to create an assistant. */
const WAYS: Record<string, (parley: Parley, name: string) => Promise<unknown>> = {
  REST: async ({ rest }, name) => (await rest.POST("/rest/v1/assistants", { body: { name } })).data?.id,
  GraphQL: async (parley, name) =>
    ((await parley.graphql(CREATE, { name })) as { createAssistant: { id: string } }).createAssistant.id,
};
const FAULTS: Record<string, Fault> = {
  "the request is lost": "lost request",
  "the response is lost": "lost response",
  "the response breaks off": "half response",
  "the response is late": "late response",
  "a proxy answers 502": { status: 502, body: "<html>" },
  "the service answers 503": { status: 503, headers: { "Retry-After": "1" } },
  "too many requests arrive": { status: 429, headers: { "Retry-After": "1" } },
};
const CASES = Object.entries(FAULTS).flatMap(([when, fault]) =>
  Object.entries(WAYS).map(([way, create]) => [way, when, fault, create] as const),
);

/** Number of assistants with the name. */
const created = async (name: string): Promise<number> => {
  const { data } = (await running.api.get("/rest/v1/assistants?take=100", 200)) as {
    data: { name: string }[];
  };
  return data.filter((one) => one.name === name).length;
};

describe("a change takes effect once", () => {
  test.each(CASES)("over %s, if %s twice", async (way, when, fault, create) => {
    const { url, requests } = await unreliable(running.url, fault, fault);
    const name = `${way}, ${when}`;
    expect(await create(client(url, { timeoutMs: 1_000 }), name)).toMatch(/\w/);
    expect(await created(name)).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(requests).toHaveLength(3);
  });

  test.each(Object.entries(WAYS))(
    "over %s, under the key of the caller in two processes",
    async (way, _create) => {
      const name = `${way} by two`;
      const key = `key of ${way}`;
      const headers = { "Idempotency-Key": key };
      for (const parley of [client(running.url), client(running.url)])
        if (way === "REST") await parley.rest.POST("/rest/v1/assistants", { body: { name }, headers });
        else await parley.graphql(CREATE, { name }, { idempotencyKey: key });
      expect(await created(name)).toBe(1);
    },
  );
});

test.each(Object.entries(WAYS))(
  "over %s, the client waits for a first try that is still running",
  async (way, create) => {
    const error = {
      message: "It runs.",
      code: "REQUEST_IN_PROGRESS",
      extensions: { code: "REQUEST_IN_PROGRESS" },
    };
    const body = JSON.stringify(
      way === "REST" ? error : { errors: [error], data: { createAssistant: null } },
    );
    const headers = { "Content-Type": "application/json" };
    const { url, requests } = await unreliable(running.url, {
      status: way === "REST" ? 409 : 200,
      headers,
      body,
    });
    expect(await create(client(url), `${way} that runs`)).toMatch(/\w/);
    expect(requests).toHaveLength(2);
  },
);

test("over GraphQL, the client repeats an operation of which a field can succeed later", async () => {
  const error = { message: "The database is away.", extensions: { code: "UNAVAILABLE" } };
  const { url, requests } = await unreliable(running.url, {
    status: 200,
    headers: { "Content-Type": "application/json", "Retry-After": "1" },
    body: JSON.stringify({ errors: [error], data: { createAssistant: null } }),
  });
  expect(await WAYS.GraphQL!(client(url), "Later")).toMatch(/\w/);
  expect(requests).toHaveLength(2);
  expect(await created("Later")).toBe(1);
});

describe("a request is not repeated", () => {
  const failed = async (parley: Parley, name = "Never") =>
    WAYS.GraphQL!(parley, name).then(
      () => undefined,
      (error: ClientError) => [error.code, error instanceof ParleyError],
    );

  test("after the last retry", async () => {
    const { url, requests } = await unreliable(running.url, ...Array<Fault>(3).fill("lost request"));
    expect(await failed(client(url))).toEqual(["NETWORK", true]);
    expect(requests).toHaveLength(3);
  });

  test("with retries: 0", async () => {
    const { url, requests } = await unreliable(running.url, "late response");
    expect(await failed(client(url, { retries: 0, timeoutMs: 200 }))).toEqual(["TIMEOUT", true]);
    expect(requests).toHaveLength(1);
  });

  test("if the service asks to wait for more than a minute", async () => {
    const { url, requests } = await unreliable(running.url, {
      status: 429,
      headers: { "Retry-After": "61" },
      body: "no",
    });
    expect(await failed(client(url))).toEqual(["INVALID_RESPONSE", true]);
    expect(requests).toHaveLength(1);
  });

  test("if it changes only what has a certain ETag", async () => {
    const { url, requests } = await unreliable(running.url, "lost response");
    const path = { id: await newAssistant(running.api) };
    const headers = { "If-Match": "*" };
    const patch = client(url).rest.PATCH("/rest/v1/assistants/{id}", {
      params: { path },
      body: { name: "Bea" },
      headers,
    });
    await expect(patch).rejects.toMatchObject({ code: "NETWORK" });
    expect(requests).toHaveLength(1);
  });

  test("after it was aborted, while it waits for the next try", async () => {
    const { url, requests } = await unreliable(running.url, {
      status: 503,
      headers: { "Retry-After": "30" },
    });
    const stop = new AbortController();
    const read = client(url).graphql("{ organization { id } }", {}, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 100);
    await expect(read).rejects.toThrow("enough");
    expect(requests).toHaveLength(1);
  });

  test("if it is refused", async () => {
    const { url, requests } = await unreliable(running.url);
    expect(await failed(createClient({ url, key: "unknown" }))).toEqual(["UNAUTHENTICATED", true]);
    expect(requests).toHaveLength(1);
  });
});

describe("onWarning gets each warning of a request that succeeded", () => {
  const warned = async (run: (parley: Parley, assistantId: string) => Promise<unknown>) => {
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    await run(client(running.url, { onWarning }), await newAssistant(running.api));
    return warnings;
  };
  const notName = (name: string) => expect.stringContaining(`{${name}} is not a variable`);
  test("over GraphQL, also if the operation has failed in part", async () => {
    const fields = "updateChatConfiguration(assistantId: $id, input: { prompt: $prompt }) { id }";
    const mutation = `mutation ($id: ID!, $prompt: String!) { ${fields} }`;
    const partly = `mutation ($id: ID!, $prompt: String!) { ${fields} endChat(id: "unknown") { id } }`;
    expect(await warned((parley, id) => parley.graphql(mutation, { id, prompt: "{a b}, {c d}" }))).toEqual([
      notName("a b"),
      notName("c d"),
    ]);
    expect(
      await warned((parley, id) => parley.graphql(partly, { id, prompt: "{a b}" }).catch(() => undefined)),
    ).toEqual([notName("a b")]);
  });

  test("over REST, as over GraphQL", async () => {
    /** With quotes, a backslash, letters outside ASCII and a percent sign. */
    const variables = { 'prénom "de" \\ 北, 5%20': "Ada" };
    const [sentence] = await warned((parley, assistantId) => parley.startChat({ assistantId, variables }));
    expect(sentence).toContain(Object.keys(variables)[0]);
    const start = (parley: Parley, assistantId: string) =>
      parley.rest.POST("/rest/v1/ai-chats", { body: { assistantId, variables } });
    expect(await warned(start)).toEqual([sentence]);
    expect(await warned((parley) => parley.rest.GET("/rest/v1/assistants", {}))).toEqual([]);
  });
});

describe("an error", () => {
  test("names the invalid values, and the request in the server's log", async () => {
    const wrong = client(running.url).graphql(
      "mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }",
      {
        input: { name: 1 },
      },
    );
    await expect(wrong).rejects.toMatchObject({
      name: "ParleyError",
      code: "BAD_USER_INPUT",
      details: [{ path: "input.name", message: expect.stringMatching(/\w/) }],
      requestId: expect.stringMatching(/^[\w-]{36}$/),
    });
  });

  test("has what the other fields have returned, and the errors of all", async () => {
    const id = await newAssistant(running.api);
    const query = `query ($id: ID!) { known: assistant(id: $id) { name } a: assistant(id: "a") { id } b: assistant(id: "b") { id } }`;
    const error = await client(running.url)
      .graphql(query, { id })
      .catch((thrown: unknown) => thrown as ClientError);
    expect(error).toMatchObject({ code: "ASSISTANT_NOT_FOUND", data: { known: { name: "Ada" }, a: null } });
    // Fields are read at once, so either error may be the first.
    const { errors, path } = error as ClientError;
    expect(errors!.map((one) => one.path).toSorted()).toEqual([["a"], ["b"]]);
    expect(path).toEqual(errors![0]!.path);
  });

  test("says that something else than Parley has answered", async () => {
    const { url } = await unreliable(running.url, { status: 404, body: "<html>" });
    await expect(client(url).graphql("{ organization { id } }")).rejects.toThrow(
      `${url}/graphql answered with status 404 and not with JSON of GraphQL.`,
    );
  });

  test("says so for REST, too", async () => {
    const { url } = await unreliable(running.url, {
      status: 200,
      headers: { "Content-Type": "text/html" },
      body: "<html>",
    });
    await expect(client(url).rest.GET("/rest/v1/assistants")).rejects.toMatchObject({
      code: "INVALID_RESPONSE",
      message: `${url}/rest/v1/assistants answered with status 200 and not with JSON.`,
    });
  });

  test("has only the fields that say something when it is printed", async () => {
    const error = await createClient({ url: running.url, key: "x", retries: 0 })
      .graphql("{ organization { id } }")
      .catch((thrown: unknown) => thrown as object);
    expect(inspect(error)).not.toContain("undefined");
  });

  test.each([
    [
      { url: "ftp://127.0.0.1" },
      'The url "ftp://127.0.0.1" is no address that begins with http:// or https://.',
    ],
    [
      { url: "127.0.0.1:4000" },
      'The url "127.0.0.1:4000" is no address that begins with http:// or https://.',
    ],
    [
      { url: "localhost:4000" },
      'The url "localhost:4000" is no address that begins with http:// or https://.',
    ],
    [{ url: "http://a.example/?b" }, 'The url "http://a.example/?b" must not have a query or a fragment.'],
    [
      { url: "http://a.example/graphql" },
      'The url "http://a.example/graphql" must be that of the service, without /graphql or /rest.',
    ],
    [{ url: "http://127.0.0.1", token: "a" }, "Pass either key or token, not both."],
  ])("tells about wrong options: %j", (options, message) => {
    expect(() => createClient({ key: "key", ...options })).toThrow(new TypeError(message));
  });
});

test.each(["/", "/service", "/service/"])("the address may end with %s", async (path) => {
  const seen: string[] = [];
  const fetch = (request: Request) => (
    seen.push(new URL(request.url).pathname),
    Promise.resolve(Response.json({ data: {} }))
  );
  const parley = createClient({ url: `http://a.example${path}`, fetch });
  await parley.graphql("{ organization { id } }");
  await parley.rest.GET("/rest/v1/assistants");
  const root = path.replace(/\/$/, "");
  expect(seen).toEqual([`${root}/graphql`, `${root}/rest/v1/assistants`]);
});

test("the client asks for the token before each request", async () => {
  const tokens = ["a wrong one"];
  const { token } = (await running.api.post("/rest/v1/organization/token", {}, 200)) as { token: string };
  const parley = createClient({ url: running.url, token: () => tokens.pop() ?? token });
  await expect(parley.graphql("{ organization { id } }")).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
    status: 401,
  });
  expect(await parley.graphql(NAMES, { search: "nobody" })).toEqual({ assistants: { data: [] } });
  const { data } = await parley.rest.GET("/rest/v1/assistants");
  expect(data?.data.length).toBeGreaterThan(0);
});
