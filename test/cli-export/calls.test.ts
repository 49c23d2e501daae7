import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, speaker } from "../support/calls";
import { importerOf } from "../support/importers";
import { emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { linesIn } from "./organization";

const running = useApp(FAST);

test(
  "the log of a call has the facts of the call, and both are imported",
  async () => {
    const { api, secretKey } = await running.otherOrganization();
    const assistantId = await speaker(api);
    const id = await place(api, assistantId, NUMBER.answers, { userId: "ada", metadata: { order: 7 } });
    const call = await ended(api, id);
    const folder = join(emptyFolder(), "export");
    const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
    expect(await runToEnd("cli/export", env, folder)).toMatchObject({ code: 0 });
    const [log] = linesIn(folder, "logs.ndjson");
    const { kind, dialedAt, answeredAt, endedAt, endedReason, phoneNumber } = call;
    expect(log).toMatchObject({ ...{ id, type: "VOICE", status: "ended", phoneNumber, endedReason } });
    expect(log!.call).toMatchObject({ ...{ kind, dialedAt, answeredAt, endedAt, metadata: { order: 7 } } });
    expect(log!.messages).toHaveLength(call.chat.messages.length);
    const { api: empty } = await running.otherOrganization();
    const key = (await importerOf(empty)).headers["X-API-Key"]!;
    const into = { PARLEY_URL: running.url, PARLEY_KEY: key };
    const { stdout } = await runToEnd("cli/import", into, "parley", folder);
    expect(stdout).toContain("logs: 1 imported");
    const query = `query ($assistantId: ID!, $id: ID!) {
      call(id: $id) { kind status createdAt dialedAt answeredAt endedAt endedReason phoneNumber userId metadata label }
      calls(first: 2) { totalCount }
      log(assistantId: $assistantId, id: $id) { type lengthSeconds customerMetadata messages } }`;
    const copy = await empty.gql(query, { assistantId, id });
    expect(copy).toEqual(await api.gql(query, { assistantId, id }));
    expect(copy.calls.totalCount).toBe(1);
  },
  2 * SERVER_TIMEOUT_MS,
);
