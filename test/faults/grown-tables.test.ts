import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { SERVER_TIMEOUT_MS } from "../support/server";
import { answeredBy, bring, connect, newPerson, textsIn } from "../support/sms";
import { stubModel } from "../support/stub-model";
import { callerOf, targets, type Target } from "../support/targets";
import { smsOf } from "../support/twilio";
import { buildWorld, type World } from "../support/world";
import type { Api } from "../support/api";

/*
 * A newer version has migrated the database while a server still runs: its tables have one more column than when
 * the server prepared its statements. There are few connections, so that each has prepared every statement.
 */
const running = useApp({ DATABASE_POOL: "2", WORKER: "on" });

let model: Awaited<ReturnType<typeof stubModel>>;
beforeAll(async () => void (model = await stubModel({ text: ["We open at 9."] })));
afterAll(() => model.stop());

/** Sorts reads first and deletions last, so that each target finds the records that it names. */
const place = ({ changes, title }: Target) =>
  changes ? (/delete|remove|forget|end|disconnect|cancel/i.test(title) ? 2 : 1) : 0;
const ordered = targets.toSorted((a, b) => place(a) - place(b));

/** Answers of all targets, one after another in a new organization. */
async function askAll(title: string): Promise<Record<string, string | undefined>> {
  const { api } = await running.otherOrganization();
  const world = await buildWorld(api);
  const answers: Record<string, string | undefined> = {};
  for (const target of ordered) answers[target.title] = await ask(target, api, world);
  // The other organization imports a key of the same value.
  await api.gql('mutation { deleteKey(id: "imported/key") { id } }');
  expect([title, await text(api)]).toEqual([title, ["We open at 9."]]);
  return answers;
}

async function ask(target: Target, api: Api, world: World): Promise<string | undefined> {
  const { code, status } = await target.ask(callerOf(target, api, world), world);
  return status !== undefined && status >= 500 ? String(status) : code;
}

/** Sends a text, which a job answers. @returns the answer */
async function text(api: Api): Promise<string[]> {
  const theirs = { ...running, url: running.url, api };
  await answeredBy(theirs, model);
  const number = await connect(theirs, [await quietAssistant(api)]);
  const from = newPerson();
  const answer = await bring(theirs, number, smsOf(number, from, "When?"));
  return textsIn(answer.text);
}

/** Adds a column to every table, as a migration may. */
async function grow(): Promise<void> {
  const { database } = running;
  const tables = "select tablename as name from pg_tables where schemaname = 'public'";
  for (const { name } of await database.query<{ name: string }>(tables))
    await database.query(`alter table ${name} add column added_later text`);
}

describe("after every table has got another column", () => {
  test(
    "every route, operation and job of a running server still works",
    async () => {
      const before = await askAll("before");
      await grow();
      const after = await askAll("after");
      expect(after).toEqual(before);
      for (const [title, code] of Object.entries(after))
        expect([title, code]).not.toEqual([title, expect.stringMatching(/^5|INTERNAL|UNAVAILABLE/)]);
      const failed =
        "select task_identifier, last_error from graphile_worker.jobs where last_error like '%cached plan%'";
      expect(await running.database.query(failed)).toEqual([]);
    },
    4 * SERVER_TIMEOUT_MS,
  );
});
