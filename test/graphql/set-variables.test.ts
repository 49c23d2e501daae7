import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { NUMBER } from "../support/calls";
import { guardedChat, guardedFlow, HOSTILE, OTHERS, SET, VERIFIED } from "../support/guarded-flow";
import { Receiver } from "../support/receiver";
import { rows } from "../support/suite";
import { until } from "../support/until";
import { VisitorClient } from "../support/visitor";

const running = useApp({ WORKER: "on" });

let functions: Receiver;
let workflowId: string;
let textId: string;
let voiceId: string;
beforeAll(async () => {
  functions = await new Receiver((res) => res.end(VERIFIED)).start();
  workflowId = await guardedFlow(running.api, functions.url);
  const CREATE = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  const deploy = async (type: string): Promise<string> =>
    (await running.api.gql(CREATE, { input: { type, workflowId } })).createDeployment.id;
  [textId, voiceId] = [await deploy("TEXT_BUBBLE"), await deploy("VOICE_BUBBLE")];
});
afterAll(() => functions.stop());

const chatOf = (id: string) => guardedChat(running.api, id);
const atDesk = (id: string) => until(async () => (await chatOf(id)).workflowNode?.name === "Desk");
const visitor = (deploymentId = textId) => VisitorClient.of(running.url, running.publicKey, { deploymentId });

/** Opens a call from a web page. @returns its id and the session of the page */
type OpenWebCall = (values: object) => Promise<{ id: string; page: VisitorClient }>;

const pageOf = ({ webCallUrl }: { webCallUrl: string }) => {
  const url = new URL(webCallUrl);
  const page = new VisitorClient(running.url, url.hash.replace("#token=", ""));
  return { id: url.searchParams.get("chat")!, page };
};
const byRest =
  (path: string): OpenWebCall =>
  async (values) => {
    const anybody = running.api.as({ "X-Public-Key": running.publicKey });
    return pageOf(await anybody.post(path, { workflowId, ...values }, 200));
  };
const WEB_CALLS: Readonly<Record<string, OpenWebCall>> = {
  "/rest/v1/call/web": byRest("/rest/v1/call/web"),
  "/rest/v2/call/web": byRest("/rest/v2/call/web"),
  startWebCall: async (values) => {
    const START = "mutation ($input: StartWebCallInput!) { startWebCall(input: $input) { webCallUrl } }";
    const anybody = running.api.as({ "X-API-Key": running.publicKey });
    return pageOf((await anybody.gql(START, { input: { workflowId, ...values } })).startWebCall);
  },
  "a visitor's startWidgetChat": async (values) => {
    const page = await visitor(voiceId);
    return { id: (await page.start({ channel: "VOICE", ...values })).id, page };
  },
};

/** Ways to set variables of a chat after its function has set some. Each returns the chat's id. */
const SETTERS: Readonly<Record<string, (values: object) => Promise<string>>> = {
  "by the page, at the start": async (variables) => {
    const { id } = await (await visitor()).start({ variables });
    return id;
  },
  "by the page, later": async (variables) => {
    const page = await visitor();
    const { id } = await page.start();
    await atDesk(id);
    await page.update({ chatId: id, variables });
    return id;
  },
  "by the page, twice": async (variables) => {
    const page = await visitor();
    const { id } = await page.start({ variables });
    await atDesk(id);
    await page.update({ chatId: id, variables: { other: 1 } });
    await page.update({ chatId: id, variables });
    return id;
  },
  "by GraphQL": async (variables) => {
    const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    return (await running.api.gql(START, { input: { workflowId, variables } })).startChat.id;
  },
  "with a call": async (variables) => {
    const body = { workflowId, phoneNumber: NUMBER.answers, variables };
    return (await running.api.post("/rest/v2/call/phone", body, 200)).id;
  },
  "with a call by GraphQL": async (variables) => {
    const PLACE = "mutation ($input: PlaceWorkflowCallInput!) { placeWorkflowCall(input: $input) { id } }";
    const input = { workflowId, phoneNumber: NUMBER.answers, variables };
    return (await running.api.gql(PLACE, { input })).placeWorkflowCall.id;
  },
  ...Object.fromEntries(
    Object.entries(WEB_CALLS).flatMap(([name, open]) => [
      [`with a web call by ${name}`, async (variables: object) => (await open({ variables })).id],
      [
        `by the page of a web call by ${name}`,
        async (variables: object) => {
          const { id, page } = await open({});
          await atDesk(id);
          await page.update({ chatId: id, variables });
          return id;
        },
      ],
    ]),
  ),
};

/** Ways to start a conversation from a web page. */
const OPENED: Readonly<Record<string, () => ReturnType<OpenWebCall>>> = {
  "a chat": async () => {
    const page = await visitor();
    return { id: (await page.start()).id, page };
  },
  ...Object.fromEntries(
    Object.entries(WEB_CALLS).map(([name, open]) => [`a web call by ${name}`, () => open({})]),
  ),
};

/** In quick runs a sample in which every way and every value occurs. */
const cases = rows(
  Object.keys(SETTERS).flatMap((way) => HOSTILE.map((values) => [way, values] as const)),
  26,
);

describe(`variables set by a function cannot be changed from outside (${cases.title})`, () => {
  test.each(cases.rows)("%s: %j", async (way, values) => {
    const id = await SETTERS[way]!({ ...values, ...OTHERS });
    await atDesk(id);
    const { variables } = await chatOf(id);
    expect(variables).toEqual({ ...SET, ...OTHERS, ...(way.endsWith("twice") && { other: 1 }) });
  });

  test.each(Object.keys(OPENED))("nor do they open an edge that depends on them, in %s", async (name) => {
    const { id, page } = await OPENED[name]!();
    await atDesk(id);
    await page.update({ chatId: id, variables: { "verified.ok": true, "verified.admin": true } });
    await page.post(id, "Open the vault.");
    await until(
      async () => (await page.chat(id)).messages.filter(({ role }) => role === "ASSISTANT").length > 1,
    );
    expect((await chatOf(id)).workflowNode.name).toBe("Desk");
  });

  test("chats from before this rule have no protected variables", async () => {
    const page = await visitor();
    const { id } = await page.start({ variables: OTHERS });
    await atDesk(id);
    await running.database.query("update chats set set_variables = null where id = $1", [id]);
    await page.update({ chatId: id, variables: { verified: 1, unverified: false, fresh: 1 } });
    expect((await chatOf(id)).variables).toEqual({ ...SET, ...OTHERS, fresh: 1 });
  });
});
