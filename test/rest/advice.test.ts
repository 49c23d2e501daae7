import { describe, expect, test } from "@jest/globals";
import { connect } from "node:net";
import { useApp } from "../support/app";
import { newAssistant, newChat, quietAssistant, said } from "../support/factories";
import { upload } from "../support/files";

const running = useApp();
const V1 = "/rest/v1";

describe("a field that a path does not take is refused with advice:", () => {
  test.each<[string, string, object, string]>([
    ["PATCH", `${V1}/assistants/ID/theme`, { primaryColor: "#fff" }, "send it as theme.primaryColor"],
    ["PATCH", `${V1}/settings/ID`, { enabled: true }, "every change of a destination enables it again"],
    [
      "POST",
      "/rest/v2/call/phone",
      { assistantId: "x", phoneNumber: "+41445550100" },
      "workflowId or deploymentId",
    ],
    [
      "POST",
      `${V1}/call/phone`,
      { workflowId: "x", phoneNumber: "+41445550100" },
      "POST /rest/v2/call/phone",
    ],
    ["POST", `${V1}/assistants/phone-calls/initiate`, { deploymentId: "x" }, "POST /rest/v2/call/phone"],
  ])("%s %s %j", async (method, path, body, advice) => {
    const id = await newAssistant(running.api);
    const answer = await running.api.request(method, path.replace("ID", id), body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(advice);
  });
});

describe("an unknown path", () => {
  test.each([
    ["/v1/assistants", "/rest/v1/assistants"],
    ["/assistants", "/rest/v1/assistants"],
    ["/assistants/some-id/voice", "/rest/v1/assistants/some-id/voice"],
    ["/rest/v1/asistants", "/rest/v1/assistants"],
    ["/rest/v1/organisation/keys", "/rest/v1/organization/keys"],
  ])("%s is answered with the nearest one", async (path, meant) => {
    const { message } = await running.api.get(path, 404);
    expect(message).toBe(
      `No such path: ${path}. Did you mean ${meant}? /rest/docs lists the paths of REST, /docs the documentation.`,
    );
  });

  test.each(["/nothing/like/it", `/${"x".repeat(5_000)}`, "/%zz", "/rest/v1/nothing/a/b/c"])(
    "%j without a similar one is answered with the place of the documentation",
    async (path) => {
      const { status, body } = await running.api.request("GET", path);
      expect([status, body.message]).toEqual([
        404,
        expect.stringMatching(/^No such path: .*[^?] \/rest\/docs/),
      ]);
    },
  );
});

test.each([
  ["POST", "/files", " For POST, use /rest/v1/files/upload."],
  ["POST", "/organization", " For POST, use /rest/v1/organization/token or /rest/v1/organization/keys."],
  ["DELETE", "/organization/keys", " For DELETE, use /rest/v1/organization/keys/{keyId}."],
  ["POST", "/ai-chats/some-id", " For POST, use /rest/v1/ai-chats/{id}/end."],
  ["PATCH", "/files", ""],
])(
  "%s %s, which lacks the method, is answered with the paths below it that have it",
  async (method, path, advice) => {
    const { status, body } = await running.api.request(method, V1 + path);
    expect([status, body.message]).toEqual([
      405,
      expect.stringMatching(/^Method not allowed\. This path supports [A-Z, ]+\./),
    ]);
    expect(body.message.replace(/^.*?supports [A-Z, ]+\./, "")).toBe(advice);
  },
);

test("a URL with characters that are not percent-encoded is answered with what to do", async () => {
  const { hostname, port } = new URL(running.url);
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () =>
      socket.write("GET /rest/v1/assistants?\u{1F600}=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    socket.on("data", (data: Buffer) => (text += data.toString()));
    socket.on("end", () => resolve(text)).on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain("must be percent-encoded");
});

describe("what has no effect is told in a warning:", () => {
  test.each(["ASSISTANT", "SYSTEM", "TOOL"])("wait=true for a message of the role %s", async (role) => {
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    const path = `${V1}/ai-chats/messages?wait=true`;
    const { status, headers } = await running.api.request("POST", path, said(chatId, "Note", role));
    expect([status, headers.get("warning")]).toEqual([
      201,
      expect.stringContaining("only messages of the role USER"),
    ]);
  });

  test.each(["", "?wait=true"])(
    "another channel of a message than that of its chat, with %j",
    async (query) => {
      const chatId = await newChat(running.api, await quietAssistant(running.api));
      const post = (channel: string) =>
        running.api.request("POST", `${V1}/ai-chats/messages${query}`, {
          ...said(chatId, "Note", "ASSISTANT"),
          channel,
        });
      const { status, body, headers } = await post("SMS");
      expect([status, body.channel]).toEqual([201, "SMS"]);
      expect(headers.get("warning")).toContain(
        "The channel SMS is stored with the message and has no effect: the channel of the chat is TEXT.",
      );
      expect((await post("TEXT")).headers.get("warning") ?? "").not.toContain("The channel");
    },
  );

  test.each(["GET", "PATCH", "DELETE"])("an Idempotency-Key of a %s", async (method) => {
    const path = `${V1}/assistants/${await newAssistant(running.api)}`;
    const body = method === "PATCH" ? { name: "Bea" } : undefined;
    const { status, headers } = await running.api.request(method, path, body, { "Idempotency-Key": "k" });
    expect([status, headers.get("warning")]).toEqual([
      200,
      expect.stringContaining("Idempotency-Key was ignored"),
    ]);
  });
});

test.each([
  ["pa%22ss.txt", 'pa"ss.txt'],
  ["a%0D%0Ab.txt", "ab.txt"],
  ["100%.txt", "100%.txt"],
  ["a%20b.txt", "a%20b.txt"],
])("the name of an uploaded file is decoded as forms encode it: %s", async (name, stored) => {
  expect((await upload(running.api, { name, content: "x" })).name).toBe(stored);
});
