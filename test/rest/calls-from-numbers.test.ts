import { describe, expect, test } from "@jest/globals";
import { ended, place, speaker } from "../support/calls";
import { useEngine } from "../support/engine";
import { until } from "../support/until";
import { answeredBy, connect, newPerson, text, type ConnectedNumber } from "../support/sms";
import { stubModel } from "../support/stub-model";

const running = useEngine();
const QUIET = { initialMessage: "" };
const THEIR_NUMBER = "+41446681800";

/** The number that the engine was asked to call from. */
async function askedFor(id: string) {
  const created = () => running.vapi.created.find(({ body }) => body.name === id)?.body;
  await until(() => created() !== undefined);
  const { phoneNumber, phoneNumberId } = created()!;
  return phoneNumber ?? phoneNumberId;
}
const ofTwilio = ({ phoneNumber, accountSid, authToken }: ConnectedNumber) => ({
  twilioPhoneNumber: phoneNumber,
  twilioAccountSid: accountSid,
  twilioAuthToken: authToken,
  smsEnabled: false,
});

describe("an outbound call comes", () => {
  test("from one of the organization's own numbers, else from the server's", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await speaker(api, QUIET);
    expect(await askedFor(await place(api, assistantId, THEIR_NUMBER))).toBe("number-1");
    const oldest = await connect({ api }, []);
    const own = await connect({ api }, [assistantId]);
    expect(await askedFor(await place(api, assistantId, THEIR_NUMBER))).toEqual(ofTwilio(own));
    const other = await speaker(api, QUIET);
    expect(await askedFor(await place(api, other, THEIR_NUMBER))).toEqual(ofTwilio(oldest));
  });

  test("from the number of its deployment", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await speaker(api, QUIET);
    await connect({ api }, [assistantId]);
    const line = await connect({ api }, []);
    const { createDeployment } = await api.gql(
      "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }",
      { input: { type: "PHONE_OUTBOUND", assistantId, telephonyConnectionId: line.id } },
    );
    const body = { deploymentId: createDeployment.id, phoneNumber: THEIR_NUMBER };
    const { id } = await api.post("/rest/v2/call/phone", body, 200);
    expect(await askedFor(id)).toEqual(ofTwilio(line));
  });

  test("from no number if its number was disconnected before it was dialed", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await speaker(api, QUIET);
    const line = await connect({ api }, []);
    // The line dials one call per second: the second one waits.
    await place(api, assistantId, THEIR_NUMBER);
    const waiting = await place(api, assistantId, THEIR_NUMBER);
    await api.gql("mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }", { id: line.id });
    expect(await ended(api, waiting)).toMatchObject({ endedReason: "no-phone-number" });
    expect(running.vapi.asked(waiting)).toBe(0);
  });

  test("from the number that the person has texted", async () => {
    const { api } = running;
    const model = await stubModel({ text: ["Thank you."] });
    try {
      await answeredBy(running, model);
      const assistantId = await speaker(api, QUIET);
      await api.patch(`/rest/v1/assistants/${assistantId}/sms`, { voiceCallMode: true }, 200);
      await connect(running, [assistantId]);
      const texted = await connect(running, [assistantId]);
      const from = newPerson();
      // The signature covers the public address.
      expect(await text({ api, url: "https://parley.example" }, texted, from, "Call me")).toEqual([
        "We are calling you now.",
      ]);
      const { calls } = await api.gql(
        "query ($of: String) { calls(filter: { phoneNumber: $of }) { nodes { id } } }",
        { of: from },
      );
      expect(await askedFor(calls.nodes[0].id)).toEqual(ofTwilio(texted));
    } finally {
      await model.stop();
    }
    expect([running.vapi.problems, running.twilio.problems]).toEqual([[], []]);
  });
});
