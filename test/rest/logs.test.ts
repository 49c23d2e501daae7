import { beforeAll, describe, expect, test } from "@jest/globals";
import { idIn } from "../../src/platform/database/lists/cursors";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { endChat, quietAssistant, newChat, said, say, UNKNOWN_ID } from "../support/factories";

const running = useApp();
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const moment = expect.stringMatching(TIME);
const logs = (assistantId: string, query: Record<string, string> = {}) =>
  running.api.get(`/rest/v1/assistants/${assistantId}/logs?${new URLSearchParams(query).toString()}`, 200);
const log = (assistantId: string, id: string, status = 200) =>
  running.api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, status);
const labels = (list: { label: string }[]) => list.map(({ label }) => label);

describe("the list of logs", () => {
  test("is a plain array of items with exactly the documented fields, newest first", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    expect(await logs(assistant)).toEqual([]);
    const one = await newChat(api, assistant, { userId: "first" });
    const two = await newChat(api, assistant, { userId: "second", channel: "SMS" });
    expect(await logs(assistant)).toEqual([
      { id: two, type: "SMS", label: "second", createdAt: moment },
      { id: one, type: "TEXT", label: "first", createdAt: moment },
    ]);
  });

  test("supports order, page and take like any list", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (let count = 1; count <= 22; count++) await newChat(api, assistant, { userId: `No. ${count}` });
    const newest = Array.from({ length: 22 }, (_, index) => `No. ${22 - index}`);
    expect(labels(await logs(assistant))).toEqual(newest.slice(0, 20));
    expect(labels(await logs(assistant, { page: "2" }))).toEqual(newest.slice(20));
    expect(labels(await logs(assistant, { order: "asc", page: "2", take: "3" }))).toEqual([
      "No. 4",
      "No. 5",
      "No. 6",
    ]);
    expect(await logs(assistant, { page: "9" })).toEqual([]);
  });

  test.each(["take=101", "take=0", "page=0", "order=up", "type=CHAT", "type=", "take=x"])(
    "rejects %s and names the parameter",
    async (query) => {
      const path = `/rest/v1/assistants/${await quietAssistant(running.api)}/logs?${query}`;
      const { details } = await running.api.get(path, 400);
      expect(details).toEqual([{ path: query.split("=")[0], message: expect.any(String) }]);
    },
  );

  test("contains only the given type", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (const channel of ["TEXT", "SMS", "VOICE", "TEXT"]) await newChat(api, assistant, { channel });
    for (const [type, count] of Object.entries({ TEXT: 2, SMS: 1, VOICE: 1 })) {
      const found = await logs(assistant, { type });
      expect(found.map((item: { type: string }) => item.type)).toEqual(
        Array.from({ length: count }, () => type),
      );
    }
  });

  test("contains only logs of its assistant", async () => {
    const { api } = running;
    const [one, two] = [await quietAssistant(api), await quietAssistant(api)];
    const chat = await newChat(api, one);
    expect(await logs(two)).toEqual([]);
    expect((await log(two, chat, 404)).code).toBe("LOG_NOT_FOUND");
  });
});

describe("a log's label", () => {
  test("is the user, even if there are messages", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant, { userId: "Grace" });
    await say(api, chat, "Hello", "USER");
    expect(labels(await logs(assistant))).toEqual(["Grace"]);
  });

  test("else is the user's first message, and empty before that", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant);
    expect(labels(await logs(assistant))).toEqual([""]);
    await api.post(
      "/rest/v1/ai-chats/messages",
      { ...said(chat, "How can I help?"), role: "ASSISTANT" },
      201,
    );
    await say(api, chat, "  \n ", "USER");
    await say(api, chat, "  When are\nyou open? ", "USER");
    await say(api, chat, "And where?", "USER");
    expect(labels(await logs(assistant))).toEqual(["When are you open?"]);
  });

  test("is the whole first message up to 80 characters", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (const length of [80, 81]) await say(api, await newChat(api, assistant), "x".repeat(length), "USER");
    expect(labels(await logs(assistant))).toEqual([`${"x".repeat(80)}…`, "x".repeat(80)]);
  });

  test("is cut if the first message is long, never inside a character", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (const content of ["word ".repeat(100), "😀".repeat(100)])
      await say(api, await newChat(api, assistant), content, "USER");
    const [faces, words] = labels(await logs(assistant));
    expect(faces).toMatch(/^(😀)+…$/u);
    expect(words).toMatch(/^(word )+word…$/);
    for (const label of [faces!, words!]) expect(Array.from(label).length).toBeLessThanOrEqual(81);
  });
});

describe("the search in logs", () => {
  const find = async (search: string, ...texts: string[]) => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (const text of texts) {
      const chat = await newChat(api, assistant, { userId: text.split("|")[0] });
      const [, content] = text.split("|");
      if (content !== undefined) await say(api, chat, content);
    }
    return labels(await logs(assistant, { search, order: "asc" }));
  };

  test("finds parts of labels and messages, ignoring case", async () => {
    expect(await find("OPEN", "Opener", "b|are you reOPENing?", "c|closed", "d")).toEqual(["Opener", "b"]);
    expect(await find("ÜBER", "a|etwas über uns", "b|uber")).toEqual(["a"]);
  });

  test("finds the first message that is the label", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    await say(api, await newChat(api, assistant), "Where is my parcel?", "USER");
    expect(labels(await logs(assistant, { search: "PARCEL" }))).toEqual(["Where is my parcel?"]);
  });

  test("takes a text longer than the 1,000 characters that GraphQL's logs of all assistants take", async () => {
    const text = "Where is my parcel? ".repeat(100);
    expect(await find(text, `a|${text}`, `b|${text.slice(0, -20)}Never mind.`)).toEqual(["a"]);
  });

  test.each([
    ["100%", ["a|100% sure", "b|100 sure"], ["a"]],
    ["a_b", ["1|a_b", "2|axb"], ["1"]],
    ["c:\\d", ["1|c:\\dir", "2|c:dir"], ["1"]],
    ["it's", ["1|it's", "2|its"], ["1"]],
    ["%", ["1|nothing"], []],
    ["_", ["1|nothing"], []],
    ["*", ["1|nothing"], []],
  ])("treats %s literally", async (search, texts, found) => {
    expect(await find(search, ...texts)).toEqual(found);
  });

  test("finds a chat once, even if several of its messages match", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant, { userId: "hello" });
    for (const content of ["hello", "Hello again"]) await say(api, chat, content);
    expect(labels(await logs(assistant, { search: "hello" }))).toEqual(["hello"]);
  });

  test.each(["1", "20"])("finds what a client says about a chat, with %s on a page", async (take) => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const find = async (search: string) => labels(await logs(assistant, { search, take }));
    await say(api, await newChat(api, assistant), "I am Kim", "USER");
    const person = {
      userName: "Lee",
      userId: "u1",
      anonymousId: "a1",
      externalId: "e1",
      metadata: { is: "vip" },
    };
    for (const given of [...Object.keys(person), "all"] as (keyof typeof person | "all")[]) {
      const about = given === "all" ? person : { [given]: person[given] };
      const input = { assistantId: assistant, phoneNumber: "+41445550100", ...about };
      const place =
        "mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id } }";
      await api.gql(place, { input });
    }
    for (const part of ["lee", "u1", "a1", "e1", "IS", "VIP"])
      expect(await find(part)).toHaveLength(Math.min(Number(take), 2));
    for (const several of ["lee u1", "lee ", "e1 {", '"is": "vip"', "kim "])
      expect(await find(several)).toEqual([]);
  });

  test("can be combined with type, order and page", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    for (const channel of ["TEXT", "SMS", "TEXT", "SMS", "TEXT"])
      await say(api, await newChat(api, assistant, { channel }), `needle on ${channel}`, "USER");
    await say(api, await newChat(api, assistant), "hay", "USER");
    const query = { search: "needle", type: "TEXT", order: "asc", take: "2" };
    expect(await logs(assistant, query)).toHaveLength(2);
    expect(labels(await logs(assistant, { ...query, page: "2" }))).toEqual(["needle on TEXT"]);
  });

  test("finds everything for an empty text, and nothing for a text that no chat contains", async () => {
    expect(await find("", "a", "b")).toEqual(["a", "b"]);
    expect(await find("unheard of", "a", "b|c")).toEqual([]);
  });
});

describe("a log", () => {
  test("of a live chat has exactly the documented fields, with an empty recordingUrl", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant, { channel: "SMS" });
    expect(await log(assistant, chat)).toEqual({
      id: chat,
      type: "SMS",
      recordingUrl: "",
      messages: { items: [] },
      metadata: {
        status: "in-progress",
        startedAt: moment,
        durationSeconds: expect.any(Number),
        messageCount: 0,
      },
      customerMetadata: {},
      createdAt: moment,
    });
  });

  test("has its messages as items, oldest first", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant);
    await say(api, chat, "Hello", "SYSTEM");
    const answer = { ...said(chat, "Good day"), metadata: { tone: null } };
    await api.post("/rest/v1/ai-chats/messages", answer, 201);
    const { messages, metadata } = await log(assistant, chat);
    expect(Object.keys(messages)).toEqual(["items"]);
    expect(messages.items).toEqual([
      expect.objectContaining({
        role: "SYSTEM",
        content: "Hello",
        createdAt: moment,
        id: expect.any(String),
      }),
      expect.objectContaining({ role: "ASSISTANT", content: "Good day", metadata: { tone: null } }),
    ]);
    expect(metadata.messageCount).toBe(2);
  });

  test("of an ended chat has times, end reason and duration", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant);
    await endChat(api, chat, "solved");
    await running.database.query(
      `update chats set started_at = ${earlier("ended_at", "interval '90 seconds'")} where id = $1`,
      [chat],
    );
    const { metadata, createdAt } = await log(assistant, chat);
    expect(metadata).toEqual({
      status: "ended",
      startedAt: createdAt,
      endedAt: new Date(Date.parse(createdAt) + 90_000).toISOString(),
      endedReason: "solved",
      durationSeconds: 90,
      messageCount: 0,
    });
  });

  test("returns the client's metadata, including nulls, and the user", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const metadata = { order: 7, nothing: null, deep: { list: [1, null] } };
    const chat = await newChat(api, assistant, { metadata, userId: "u1" });
    expect((await log(assistant, chat)).customerMetadata).toEqual({ ...metadata, userId: "u1" });
  });

  test("that is unknown or of another organization returns 404", async () => {
    const { api } = running;
    const { api: other } = await running.otherOrganization();
    const assistant = await quietAssistant(api);
    const theirs = await newChat(other, await quietAssistant(other));
    for (const id of [UNKNOWN_ID, "x", theirs])
      expect((await log(assistant, id, 404)).code).toBe("LOG_NOT_FOUND");
  });
});

describe("a search that no index can answer in time", () => {
  const CHATS = 2_000;
  /** Logs of one statement, which may take at most 5 s behind a pooler. */
  const AT_ONCE = 250;
  let assistantId: string;
  beforeAll(async () => {
    assistantId = await quietAssistant(running.api);
    for (let from = 1; from <= CHATS; from += AT_ONCE)
      await running.database.query(
        `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, metadata, started_at)
         select organization_id, $1 || '-' || n, id, 'TEXT', 'ended', 'none', 
             case when n = 7 then 'qz' when n in (3, ${CHATS - 3}) then 'jk ' || n else 'Caller' end,
           jsonb_build_object('text', repeat('x y ', 5000)), now() - n * interval '1 minute'
         from assistants, generate_series($2::integer, $3) n where id = $1`,
        [assistantId, from, from + AT_ONCE - 1],
      );
  });

  const path = (text: string) =>
    `/rest/v1/assistants/${assistantId}/logs?search=${encodeURIComponent(text)}&order=asc&take=5`;

  test.each([
    ["two letters", "qz", ["qz"]],
    ["a phrase of common words", "caller text", []],
  ])(
    "for %s is limited, says so, and is continued by the link on REST until it is complete",
    async (_what, text, all) => {
      const { api } = running;
      const found: string[] = [];
      let requests = 0;
      for (let next: string | undefined = path(text); next !== undefined; requests++) {
        const { status, headers, body } = await api.request("GET", next);
        expect(status).toBe(200);
        found.push(...labels(body as { label: string }[]));
        const link = headers.get("link");
        if (link !== null) expect(headers.get("warning")).toMatch(/limited to the oldest \d+ logs/);
        next = link === null ? undefined : /^<(\/[^>]+)>; rel="next"$/.exec(link)![1];
      }
      expect(requests).toBeGreaterThan(1);
      expect(found).toEqual(all);
    },
  );

  test.each([
    [1, 2, ["jk 3"]],
    [1, 3, []],
    [2, 2, []],
    [3, 2, []],
  ])(
    "with %i logs a page leaves out those before page %i when the link continues it",
    async (take, page, all) => {
      const found: string[] = [];
      const first = path("jk").replace("take=5", `take=${take}&page=${page}`);
      for (let next: string | undefined = first; next !== undefined;) {
        const { headers, body } = await running.api.request("GET", next);
        found.push(...labels(body as { label: string }[]));
        next = /^<(\/[^>]+)>/.exec(headers.get("link") ?? "")?.[1];
      }
      expect(found).toEqual(all);
    },
  );

  test("is limited, says so, and is continued by the cursor in GraphQL until it is complete", async () => {
    const query = `query ($after: String, $id: ID!) { logs(first: 5, after: $after, filter: { assistantId: $id, search: "q" }) {
      nodes { label } pageInfo { hasNextPage endCursor } } }`;
    const found: string[] = [];
    let warnings = 0;
    let after: string | null = null;
    do {
      const { body } = await running.api.request("POST", "/graphql", {
        query,
        variables: { id: assistantId, after },
      });
      const { data, extensions } = body as {
        data: { logs: { nodes: { label: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
        extensions?: { warnings?: string[] };
      };
      found.push(...labels(data.logs.nodes));
      const told = extensions?.warnings;
      if (told) expect(told).toEqual([expect.stringMatching(/newest \d+ logs .* Continue with/)]);
      warnings += told ? 1 : 0;
      after = data.logs.pageInfo.hasNextPage ? data.logs.pageInfo.endCursor : null;
    } while (after !== null);
    expect(warnings).toBeGreaterThan(0);
    expect(found).toEqual(["qz"]);
  });

  test("continues where it ended, even if the log there is removed meanwhile", async () => {
    const found: string[] = [];
    let removed = 0;
    for (let next: string | undefined = path("qz"); next !== undefined;) {
      const { headers, body } = await running.api.request("GET", next);
      found.push(...labels(body as { label: string }[]));
      next = /^<(\/[^>]+)>/.exec(headers.get("link") ?? "")?.[1];
      if (next === undefined) break;
      const id = idIn(new URL(next, "http://localhost").searchParams.get("after")!);
      const gone = await running.database.query("delete from chats where id = $1 returning id", [id]);
      removed += gone.length;
    }
    expect(removed).toBeGreaterThan(0);
    expect(found).toEqual(["qz"]);
  });
});
