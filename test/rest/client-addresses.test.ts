import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";

const running = useApp({ TRUST_PROXY: "127.0.0.1,10.0.0.0/8" });
const LIST = "query ($id: ID!) { auditEvents(filter: { recordId: $id }) { nodes { address } } }";
/** Longer than PostgreSQL's entries of an index may be, also compressed. */
const LONG = randomBytes(3_000).toString("hex");

test.each([
  ["an address", "203.0.113.7", "203.0.113.7"],
  ["an address with a port", "203.0.113.7:50123", "203.0.113.7"],
  ["an IPv6 address with a port", "[2001:db8::7]:50123", "2001:db8::7"],
  ["an address after what its client sent", "unknown, 203.0.113.7", "203.0.113.7"],
  ["the address of a proxy after what its client sent", "unknown, 10.0.0.9", "10.0.0.9"],
  ["no address", "unknown", "127.0.0.1"],
  ["a long text", LONG, "127.0.0.1"],
  ["an address with a long zone", `fe80::1%${LONG}`, "127.0.0.1"],
])("the audit log names the client if a proxy forwards %s", async (_, forwarded, address) => {
  const api = running.api.as({ "X-API-Key": running.secretKey, "X-Forwarded-For": forwarded });
  const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  expect((await running.api.gql(LIST, { id })).auditEvents.nodes).toEqual([{ address }]);
});
