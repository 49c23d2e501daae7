import { expect, test } from "@jest/globals";
import { auditRows, recording } from "../support/audit";
import { useApp } from "../support/app";
import { speaker } from "../support/calls";
import { useEngine } from "../support/engine";
import { quietAssistant } from "../support/factories";
import { bring, connect, newPerson } from "../support/sms";
import { smsOf } from "../support/twilio";

const running = useApp({ WORKER: "on" });
const engine = useEngine({ CALL_SILENCE_SECONDS: "3600" });

test("the audit log of a new organization starts with the command that created it", async () => {
  const { organizationId } = await running.otherOrganization();
  const rows = await auditRows(running.database, organizationId);
  expect(rows).toMatchObject([
    {
      actor: "OPERATOR",
      interface: "COMMAND",
      operation: "org:create",
      recordType: "Organization",
      recordId: organizationId,
      fields: [{ name: "name" }],
    },
  ]);
});

test("a callback without the secret of a live call is not recorded", async () => {
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const { rows } = await recording(running.database, id, () =>
    running.api.post(
      "/rest/v1/webhooks/vapi/server-messages",
      { message: { type: "status-update", status: "ended" } },
      201,
    ),
  );
  expect(rows).toEqual([]);
});

test("an incoming text is recorded once, without its words and number", async () => {
  const number = await connect(running, [await quietAssistant(running.api)]);
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const from = newPerson();
  const sms = smsOf(number, from, "Words of a person");
  const { rows } = await recording(running.database, id, async () => {
    await bring(running, number, sms);
    await bring(running, number, sms);
  });
  expect(rows).toMatchObject([
    {
      actor: "PROVIDER",
      interface: "CALLBACK",
      operation: "interceptSms",
      recordType: "TelephonyConnection",
    },
  ]);
  const digest = expect.any(String);
  expect(rows[0]!.fields).toEqual([
    { name: "phoneNumber", digest },
    { name: "content", digest },
  ]);
  expect(rows[0]!.person).toBe(rows[0]!.fields[0]!.digest);
  expect(JSON.stringify(rows)).not.toContain("Words of a person");
  expect(JSON.stringify(rows)).not.toContain(from);
});

test("changes by the voice engine are recorded, but not a repeated callback", async () => {
  const call = await engine.call(await speaker(engine.api, { initialMessage: "" }));
  const { id } = await engine.api.get("/rest/v1/organization", 200);
  const { rows } = await recording(engine.database, id, async () => {
    await call.tell("status-update", { status: "in-progress" });
    await call.tell("status-update", { status: "in-progress" });
  });
  expect(rows).toMatchObject([
    {
      actor: "PROVIDER",
      interface: "CALLBACK",
      operation: "engineServerMessages",
      recordType: "Call",
      recordId: call.id,
    },
  ]);
});
