import { beforeAll, describe, expect, test } from "@jest/globals";
import { addFacts } from "../../src/chats/analytics/add-facts";
import { keepFacts, sumFacts } from "../../src/chats/analytics/keep-facts";
import { openClient } from "../../src/platform/database/connections/open-client";
import { Erasures } from "../../src/privacy/erasure/erasures";
import { useApp } from "../support/app";
import type { Api } from "../support/api";
import {
  anonymous,
  computedFacts,
  directReport,
  FIELDS,
  type ComputedFacts,
} from "../support/direct-analytics";
import { askToForget } from "../support/erasures";
import { endChat, newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { randomFrom, randomHistory, store } from "../support/history";

/*
 * Random changes of conversations through both interfaces, with facts stored and added up at random moments, must leave
 * the figures as if each request counted all conversations. A failure names its seed and its steps.
 */
const running = useApp();
const STEPS = 40;
const DAY = 86_400_000;
const FROM = Date.parse("2026-03-26T21:50:00Z");
const DAYS = 4;
const REASONS = ["ended-by-api", "idle-timeout", "assistant-ended", "unknown", "erased"];
const ZONES = [
  "UTC",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Europe/Zurich",
  "Australia/Lord_Howe",
  "America/New_York",
];
const REPORT = `query ($input: AnalyticsInput!) { analytics(input: $input) { ${FIELDS}
  unansweredQuestions(first: 100) { messageId } } }`;

const DELETE_LOG =
  "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";

/** An organization whose conversations change at random. */
class Course {
  readonly steps: string[] = [];
  /** What remains of erased conversations. */
  readonly erased: ComputedFacts[] = [];
  private readonly open: string[] = [];
  private imports = 0;

  constructor(
    readonly api: Api,
    readonly organizationId: string,
    readonly assistants: readonly string[],
    readonly projectId: string,
    readonly random: () => number,
  ) {}

  readonly pick = <T>(list: readonly T[]): T => list[Math.floor(this.random() * list.length)]!;
  private readonly scope = () => running.app.database.scope(this.organizationId);
  private readonly query = running.database.query.bind(running.database);

  readonly changes: Readonly<Record<string, () => Promise<unknown>>> = {
    begin: async () => {
      const input = { uniqueId: this.pick(["ann", "bob"]), channel: this.pick(["TEXT", "SMS"]) };
      this.open.push(await newChat(this.api, this.pick(this.assistants), input));
    },
    speak: async () => {
      const chat = this.pick(this.open);
      if (chat)
        await say(this.api, chat, this.pick(["Hello.", "I don't know."]), this.pick(["USER", "ASSISTANT"]));
    },
    // As a turn does that calls a function.
    call: async () => {
      const chat = this.pick(this.open);
      const callId = `call-${this.steps.length}`;
      if (chat === undefined) return;
      await this.query(
        `with counted as (update chats set message_count = message_count + 2, event_count = event_count + 2
           where organization_id = $1 and id = $2 returning *)
         insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, tool_calls, tool_call_id, metadata)
         select organization_id, $3 || part, id, assistant_id, message_count - 1 + part, case part when 0 then 'ASSISTANT' else 'TOOL' end,
           channel, '', case part when 0 then json_build_array(json_build_object('id', $3, 'name', $4::text)) end,
           case part when 1 then $3 end, jsonb_build_object('failed', $5::boolean)
         from counted, generate_series(0, 1) part`,
        [
          this.organizationId,
          chat,
          `${this.organizationId}-${callId}`,
          this.pick(["book", "look_up"]),
          this.random() < 0.5,
        ],
      );
    },
    end: async () => {
      const chat = this.open.shift();
      if (chat && this.random() < 0.5) await endChat(this.api, chat, "said-goodbye");
      else if (chat) await this.api.post(`/rest/v1/ai-chats/${chat}/end`, {}, 200);
    },
    import: () => {
      const prefix = `${this.organizationId.slice(0, 13)}-${++this.imports}`;
      const past = { assistantIds: this.assistants, count: 8, from: new Date(FROM), days: DAYS, prefix };
      return store(running.database, this.organizationId, randomHistory(this.random, past));
    },
    // As the late report of a call does.
    complete: async () => {
      const facts = await this.one();
      if (facts === undefined) return;
      await this.query(
        `with late as (insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
           select organization_id, gen_random_uuid()::text, id, assistant_id, 1000 + $3, 'USER', channel, 'Late words.'
           from chats where organization_id = $1 and id = $2 returning 1),
         changed as (update chats set counted = false, ended_reason = 'assistant-ended' where organization_id = $1 and id = $2 returning 1),
         functions as (delete from function_facts_kept where organization_id = $1 and chat_id = $2)
         delete from conversation_facts_kept where organization_id = $1 and chat_id = $2`,
        [this.organizationId, facts.chat_id, this.steps.length],
      );
    },
    delete: async () => {
      const facts = await this.one();
      if (facts === undefined) return;
      await this.api.gql(DELETE_LOG, { assistantId: facts.assistant_id, id: facts.chat_id });
      this.erased.push(anonymous(facts, REASONS));
    },
    forget: async () => {
      const uniqueId = this.pick(["ann", "bob"]);
      const { id } = await askToForget(this, { uniqueId });
      const gone = await this.query<{ id: string }>(
        "select id from chats where organization_id = $1 and unique_id = $2",
        [this.organizationId, uniqueId],
      );
      const before = await this.ended();
      const ids = gone.map((chat) => chat.id);
      const live = this.open.filter((chat) => ids.includes(chat));
      for (const chat of live) await endChat(this.api, chat, "ended-by-api");
      for (const chat of live) this.open.splice(this.open.indexOf(chat), 1);
      const facts = [...before, ...(await this.ended())].filter(({ chat_id }) => ids.includes(chat_id));
      await this.scope().of(Erasures).run(id);
      this.erased.push(...new Map(facts.map((one) => [one.chat_id, anonymous(one, REASONS)])).values());
    },
    move: () =>
      this.api.gql(
        "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }",
        {
          id: this.pick(this.assistants),
          input: { projectId: this.pick([this.projectId, null]) },
        },
      ),
  };

  readonly jobs: Readonly<Record<string, () => Promise<unknown>>> = {
    keepSome: () => running.app.database.keepFacts(5),
    keepAll: () => keepFacts(running.app.database),
    sumSome: () => addFacts(this.scope(), { most: 3, batches: 2 }),
    sumAll: () => sumFacts(running.app.database),
    sumTwiceAtOnce: () => Promise.all([1, 2].map(() => addFacts(this.scope(), { most: 4 }))),
    sumAndKeepAtOnce: () =>
      Promise.all([keepFacts(running.app.database), sumFacts(running.app.database, undefined, 4)]),
    crash: () =>
      this.scope()
        .transaction(async (scope) => {
          await addFacts(scope);
          throw new Error("crash");
        })
        .catch((error: Error) => expect(error.message).toBe("crash")),
  };

  async step(): Promise<void> {
    const [names, kind] =
      this.random() < 0.6 ? [Object.keys(this.changes), this.changes] : [Object.keys(this.jobs), this.jobs];
    const name = this.pick(names);
    this.steps.push(name);
    await kind[name]!();
  }

  /** Compares the figures of a random period, zone and filter. */
  async check(isRecent = this.random() < 0.3): Promise<void> {
    const all = [...(await computedFacts(running.database, this.organizationId)), ...this.erased];
    const start = isRecent ? Date.now() - DAY : FROM + Math.floor(this.random() * DAYS * DAY);
    const to = new Date(
      isRecent ? Date.now() + DAY : start + Math.floor(this.random() ** 3 * DAYS * DAY) + 1,
    );
    const from = new Date(this.random() < 0.3 ? start - (start % 900_000) : start);
    const timezone = this.pick(ZONES);
    const assistantId = this.random() < 0.3 ? this.pick(this.assistants) : null;
    const channel = this.random() < 0.3 ? this.pick(["TEXT", "VOICE", "SMS"]) : null;
    const projectId = this.random() < 0.3 ? this.projectId : null;
    const input = { from, to, timezone, assistantId, channel, projectId };
    const members = await this.query<{ id: string }>("select id from assistants where project_id = $1", [
      this.projectId,
    ]);
    const isWanted = ({ assistant_id, ...facts }: ComputedFacts) =>
      facts.started_at >= from &&
      facts.started_at < to &&
      (assistantId === null || assistant_id === assistantId) &&
      (channel === null || facts.channel === channel) &&
      (projectId === null || members.some(({ id }) => id === assistant_id));
    const { unansweredQuestions, ...analytics } = (await this.api.gql(REPORT, { input })).analytics;
    const dates = analytics.days.map(({ date }: { date: string }) => date);
    const wanted = all.filter(isWanted);
    const after = this.steps.join(" ");
    expect({ after, ...analytics }).toEqual({ after, ...directReport(wanted, dates, timezone) });
    const ids = wanted.map(({ chat_id }) => chat_id);
    const questions = await this.query<{ id: string }>(
      "select id from question_outcomes where chat_id = any($1) and outcome in ('NOT_KNOWN', 'ERROR', 'NO_ANSWER')",
      [ids],
    );
    const listed = unansweredQuestions.map(({ messageId }: { messageId: string }) => messageId);
    expect(listed.toSorted()).toEqual(questions.map(({ id }) => id).sort());
  }

  private async ended(): Promise<ComputedFacts[]> {
    const all = await computedFacts(running.database, this.organizationId);
    return all.filter(({ ended_reason }) => ended_reason !== null);
  }

  private async one(): Promise<ComputedFacts | undefined> {
    return this.pick((await this.ended()).sort((a, b) => (a.chat_id < b.chat_id ? -1 : 1)));
  }
}

async function courseOf(seed: number): Promise<Course> {
  const { api, organizationId } = await running.otherOrganization();
  const assistants = [await quietAssistant(api), await quietAssistant(api), await newAssistant(api)];
  const { createProject } = await api.gql('mutation { createProject(input: { name: "Shop" }) { id } }');
  return new Course(api, organizationId, assistants, createProject.id, randomFrom(seed));
}

describe("figures equal those counted from the conversations", () => {
  test.each([1, 2, 3])(
    "after every step of a random course, seed %i",
    async (seed) => {
      const course = await courseOf(seed);
      await course.changes.import!();
      for (let step = 0; step < STEPS; step++) {
        await course.step();
        await course.check();
      }
      await keepFacts(running.app.database);
      await sumFacts(running.app.database);
      for (let round = 0; round < 5; round++) await course.check();
      expect(await running.database.query("select from conversation_facts_kept")).toEqual([]);
    },
    240_000,
  );
});

test.each([4, 5])("figures of conversations that go on are those of now, seed %i", async (seed) => {
  const course = await courseOf(seed);
  for (let step = 0; step < STEPS; step++) {
    const name = course.pick(["begin", "speak", "call", "speak", "call", "end", "forget"]);
    course.steps.push(name);
    await course.changes[name]!();
    if (course.random() < 0.5) await course.jobs.keepAll!();
    await course.check(true);
  }
});

describe("sums", () => {
  let course: Course;
  beforeAll(async () => {
    course = await courseOf(9);
    for (let round = 0; round < 5; round++) await course.changes.import!();
    await keepFacts(running.app.database);
    await sumFacts(running.app.database);
  });

  test("are those of the facts that were added", async () => {
    const total = (from: string) =>
      running.database.query(
        `select sum(conversations)::int as conversations, sum(messages)::int as messages from ${from}`,
      );
    const facts = await total("(select 1 as conversations, messages from conversation_facts_summed) f");
    for (const unit of ["day", "quarter"])
      for (const who of ["=", "<>"])
        expect(await total(`conversation_sums where unit = '${unit}' and assistant_id ${who} ''`)).toEqual(
          facts,
        );
  });

  test("forget the words of an end reason with the last conversation that has it", async () => {
    const chat = await newChat(course.api, course.assistants[0]!, { uniqueId: "carl" });
    await endChat(course.api, chat, "because of Carl");
    await keepFacts(running.app.database);
    await sumFacts(running.app.database);
    const words = "select from end_reason_sums where reason = 'because of Carl'";
    expect((await running.database.query(words)).length).toBeGreaterThan(0);
    await course.api.gql(DELETE_LOG, { assistantId: course.assistants[0], id: chat });
    expect(await running.database.query(words)).toEqual([]);
    expect(
      await running.database.query("select from conversation_facts_summed where chat_id = $1", [chat]),
    ).toEqual([]);
  });

  test("of an organization that an older server counts again are taken back at once", async () => {
    const { database } = running;
    const input = { from: new Date(FROM), to: new Date(FROM + DAYS * DAY) };
    const totals = async () =>
      (
        await course.api.gql(
          "query ($input: AnalyticsInput!) { analytics(input: $input) { totals { conversations messages } } }",
          { input },
        )
      ).analytics.totals;
    const before = await totals();
    await database.query("update chats set counted = false where organization_id = $1", [
      course.organizationId,
    ]);
    expect(await totals()).toEqual(before);
    await keepFacts(running.app.database);
    expect(await totals()).toEqual(before);
    await sumFacts(running.app.database);
    expect(await totals()).toEqual(before);
  });

  test("wait while a server without them is connected", async () => {
    const { database, app } = running;
    expect(await app.database.servesWithoutSums()).toBe(false);
    const listener = await openClient(database.ownerUrl, "parley listener 1a2b3c");
    try {
      await course.changes.import!();
      await keepFacts(app.database);
      await sumFacts(app.database);
      expect(await database.query("select from conversation_facts_kept")).not.toEqual([]);
    } finally {
      await listener.end();
    }
  });
});
