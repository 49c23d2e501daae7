import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, newChat } from "../support/factories";
import { Receiver, type ReceivedRequest } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import { verifyWebhook } from "./client";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const SECRETS = { plain: "topsecret ü", standard: "whsec_dG9wc2VjcmV0" };

/** The samples of all events, as a destination with the secret receives them. */
async function samples(secret: string): Promise<ReceivedRequest[]> {
  const receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  const { id } = (await running.api.post("/rest/v1/settings", { url: receiver.url, secret }, 201)) as {
    id: string;
  };
  const { sendSampleEvents: sent } = (await running.api.gql(
    "mutation ($id: ID!) { sendSampleEvents(id: $id) { id } }",
    { id },
  )) as { sendSampleEvents: unknown[] };
  await until(() => receiver.received.length >= sent.length);
  await running.api.delete(`/rest/v1/settings/${id}`, 200);
  return receiver.received;
}

const requestOf = ({ headers, text }: ReceivedRequest, changes: Record<string, string> = {}, body = text) =>
  new Request("https://receiver.example/", {
    method: "POST",
    headers: { ...(headers as Record<string, string>), ...changes },
    body,
  });

test.each(Object.entries(SECRETS))(
  "every event is verified with a %s secret, in each form of a request",
  async (_name, secret) => {
    const received = await samples(secret);
    expect(received.length).toBeGreaterThan(5);
    for (const one of received) {
      const { headers, text, body } = one;
      const forms = [
        requestOf(one),
        { headers, body: text },
        { headers, body: Buffer.from(text) },
        { headers: new Headers(headers as Record<string, string>), body: new TextEncoder().encode(text) },
      ];
      for (const form of forms)
        expect(await verifyWebhook(form, ["an older one", secret])).toEqual({
          ...body,
          id: headers["webhook-id"],
          sentAt: new Date(Number(headers["webhook-timestamp"]) * 1_000),
          chatId: headers["webhook-chat-id"],
          isSample: true,
        });
    }
  },
);

describe("a delivery is refused", () => {
  const NOT_SIGNED = "The signature does not fit the secret and the body.";
  const LATE = "The delivery is too old, or the clock of this machine is wrong.";
  const changed: [string, (one: ReceivedRequest) => Parameters<typeof verifyWebhook>, string][] = [
    ["with another secret", (one) => [requestOf(one), "another"], NOT_SIGNED],
    ["with a changed body", (one) => [requestOf(one, {}, `${one.text} `), SECRETS.plain], NOT_SIGNED],
    ["with another id", (one) => [requestOf(one, { "webhook-id": "1" }), SECRETS.plain], NOT_SIGNED],
    ["with another time", (one) => [requestOf(one, { "webhook-timestamp": "1" }), SECRETS.plain], NOT_SIGNED],
    [
      "with another signature",
      (one) => [requestOf(one, { "webhook-signature": `v1,${"A".repeat(43)}=` }), SECRETS.plain],
      NOT_SIGNED,
    ],
    [
      "with a signature that is none",
      (one) => [requestOf(one, { "webhook-signature": "v2 é".replace("é", "x") }), SECRETS.plain],
      NOT_SIGNED,
    ],
    ["that is old", (one) => [requestOf(one), SECRETS.plain, { toleranceSeconds: -1 }], LATE],
    [
      "without its headers",
      (one) => [{ headers: {}, body: one.text }, SECRETS.plain],
      "The header webhook-id is missing.",
    ],
    [
      "without a secret, as of a missing setting",
      (one) => [requestOf(one), undefined as never],
      "The secret of the webhook destination is missing.",
    ],
    ["without a secret", (one) => [requestOf(one), ""], "The secret of the webhook destination is missing."],
    [
      "whose body was parsed",
      (one) => [{ headers: one.headers, body: one.body as never }, SECRETS.plain],
      "The body must be a string or bytes as received. Turn off the parser of your framework for this path.",
    ],
  ];

  test.each(changed)("%s", async (_name, form, message) => {
    const [one] = await samples(SECRETS.plain);
    await expect(verifyWebhook(...form(one!))).rejects.toMatchObject({ code: "INVALID_WEBHOOK", message });
  });
});

test("a server of node:http verifies what the service sends, and knows the conversation", async () => {
  const verified: unknown[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      verifyWebhook({ headers: req.headers, body: Buffer.concat(chunks) }, SECRETS.standard).then(
        ({ event, chatId, isSample }) => (verified.push([event, chatId, isSample]), res.end()),
        () => res.writeHead(403).end(),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await running.api.post(
    "/rest/v1/settings",
    { url, secret: SECRETS.standard, events: ["session-start"] },
    201,
  );
  const chatId = await newChat(running.api, await newAssistant(running.api));
  await until(() => verified.length > 0);
  expect(verified).toEqual([["session-start", chatId, false]]);
});
