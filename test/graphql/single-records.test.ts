import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

type Case = [field: string, idOf: keyof World, list: string, fields: string, code: string];
const cases: Case[] = [
  ["file", "fileId", "files { data { FIELDS } }", "id name mimeType size createdAt", "FILE_NOT_FOUND"],
  [
    "webhookDestination",
    "destinationId",
    "webhookDestinations { FIELDS }",
    "id url name secret enabled",
    "WEBHOOK_DESTINATION_NOT_FOUND",
  ],
  [
    "telephonyConnection",
    "connectionId",
    "telephonyConnections { FIELDS }",
    "id phoneNumber accountSid authTokenHint",
    "TELEPHONY_CONNECTION_NOT_FOUND",
  ],
  ["event", "eventId", "events { nodes { FIELDS } }", "id name type chatId payload", "EVENT_NOT_FOUND"],
];

describe("a record by its id is the one of the list:", () => {
  test.each(cases)("%s", async (field, idOf, list, fields, code) => {
    const query = `query ($id: ID!) { ${field}(id: $id) { ${fields} } ${list.replace("FIELDS", fields)} }`;
    const { [field]: record, ...lists } = await running.api.gql(query, { id: world[idOf] as string });
    expect(record.id).toBe(world[idOf]);
    expect(JSON.stringify(lists)).toContain(JSON.stringify(record));
    const error = await running.api.gqlError(query, { id: UNKNOWN_ID });
    expect(error.extensions.code).toBe(code);
  });

  test("delivery", async () => {
    const query = `query ($id: ID!) { delivery(id: $id) { id event { id } destination { deliveries { nodes { id event { id } } } } } }`;
    const { destination, ...delivery } = (await running.api.gql(query, { id: world.deliveryId })).delivery;
    expect(delivery.id).toBe(world.deliveryId);
    expect(destination.deliveries.nodes).toContainEqual(delivery);
    expect((await running.api.gqlError(query, { id: UNKNOWN_ID })).extensions.code).toBe(
      "DELIVERY_NOT_FOUND",
    );
  });
});

test("the URL of a file leads to its content, and the audit log records that it was shown", async () => {
  const { file } = await running.api.gql("query ($id: ID!) { file(id: $id) { url } }", { id: world.fileId });
  const link = await running.api.gql("query ($id: ID!) { fileDownload(id: $id) { url } }", {
    id: world.fileId,
  });
  const [content, same] = await Promise.all(
    [file.url, link.fileDownload.url].map(async (url: string) => (await fetch(url)).text()),
  );
  expect([content!.length > 0, content]).toEqual([true, same]);
  const { auditEvents } = await running.api.gql(
    '{ auditEvents(filter: { operation: "file" }) { nodes { kind recordType recordId fields { name } } } }',
  );
  expect(auditEvents.nodes).toEqual([
    { kind: "DISCLOSURE", recordType: "File", recordId: world.fileId, fields: [{ name: "url" }] },
  ]);
});
