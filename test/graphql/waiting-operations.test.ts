import { expect, test } from "@jest/globals";
import { newAssistant } from "../support/factories";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import { stubModel } from "../support/stub-model";
import { until } from "../support/until";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
const MAP = `mutation ($input: ModelMappingInput!) { setModelMapping(input: $input) { model } }`;
const TEST = `mutation ($input: TestModelInput!) { testModel(input: $input) { connected } }`;
const NAME = `query ($id: ID!) { assistant(id: $id) { name } }`;

test("operations that wait for a model delay no others, through either interface", async () => {
  const { api } = running;
  let release!: () => void;
  const held = new Promise<void>((resolve) => (release = resolve));
  const server = await stubModel({ text: ["Yes."], held });
  afterTest(server.stop);
  await api.gql(MAP, { input: { model: "MIXTRAL", name: "llama3.2", baseUrl: server.url } });
  const id = await newAssistant(api, { name: "Ada" });
  let answered = 0;
  const waiting = Array.from({ length: 16 }, () =>
    api.gql(TEST, { input: { model: "MIXTRAL" } }).then(({ testModel }) => {
      answered++;
      return testModel as unknown;
    }),
  );
  await until(() => server.asked.length === waiting.length);
  const read = await Promise.all(
    Array.from({ length: 30 }, () =>
      Promise.all([
        api.gql(NAME, { id }).then(({ assistant }) => assistant.name as unknown),
        api.get(`/rest/v1/assistants/${id}`, 200).then(({ name }) => name as unknown),
      ]),
    ),
  );
  expect(read).toEqual(read.map(() => ["Ada", "Ada"]));
  expect(answered).toBe(0);
  release();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ connected: true })));
});
