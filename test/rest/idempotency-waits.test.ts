import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { getOperationAST, parse, type FieldNode } from "graphql";
import { routes } from "../../rest-compat/routes/index";
import { waitsFor } from "../../schema/core/waits";
import type { Answer } from "../support/api";
import { useApp } from "../support/app";
import { exampleOf, send, type Call } from "../support/examples";
import { Gate } from "../support/gate";
import { startS3 } from "../support/s3";
import { until } from "../support/until";
import { FakeVapi } from "../support/vapi";
import { buildWorld, namedBy, worlds } from "../support/world";

const vapi = new FakeVapi();
let s3: Awaited<ReturnType<typeof startS3>>;
const engine = new Gate(() => vapi.url);
const storage = new Gate(() => s3.url);
const gates = [engine, storage];
const settings: Record<string, string> = {
  WORKER: "on",
  VAPI_API_KEY: "key",
  VAPI_PUBLIC_KEY: "public",
  VAPI_PHONE_NUMBER_ID: "number-1",
  PUBLIC_BASE_URL: "https://parley.example",
  S3_BUCKET: "files",
  S3_ACCESS_KEY_ID: "id",
  S3_SECRET_ACCESS_KEY: "secret",
};
beforeAll(async () => {
  s3 = await startS3("id");
  await vapi.start();
  settings.VAPI_BASE_URL = await engine.start();
  settings.S3_ENDPOINT = await storage.start();
});
const running = useApp(settings);
afterAll(async () => {
  gates.forEach((gate) => gate.open());
  await Promise.all([vapi.stop(), s3.stop(), ...gates.map((gate) => gate.stop())]);
});

const posts = routes.filter(({ method, document }) => method === "post" && document !== undefined);
type Row = (typeof posts)[number];
function isWaiting({ document }: Row): boolean {
  const [field] = getOperationAST(parse(document!))!.selectionSet.selections;
  return waitsFor((field as FieldNode).name.value, {});
}
const another = worlds(() => running.api);
let keys = 0;
const newKey = () => `key ${++keys} / ${process.pid}`;
const post = (route: Row, call: Call, key: string) =>
  send(running.api, route, call, { "Idempotency-Key": key });
const waiting = () => gates.flatMap((gate) => gate.waiting);
/** Transactions of the service on this database, except those between two consecutive statements. */
const noneIsOpen = async () =>
  (
    await running.database.query(
      `select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )
  ).length === 0;

/** Sends the request while no provider answers. @returns its answer, and whether it waited for a provider */
async function whileNoneAnswers(sent: () => Promise<Answer>, meanwhile: () => Promise<void>) {
  gates.forEach((gate) => gate.shut());
  try {
    let answered = false;
    const answer = sent().finally(() => (answered = true));
    await until(() => answered || waiting().length > 0);
    const asked = !answered;
    await meanwhile();
    gates.forEach((gate) => gate.open());
    return { answer: await answer, asked };
  } finally {
    gates.forEach((gate) => gate.open());
  }
}

describe.each(posts)("$method $path with an Idempotency-Key", (route) => {
  const example = exampleOf(route.id);

  test("holds no transaction open while a provider does not answer", async () => {
    const call = example(await another(example));
    const key = newKey();
    const { answer, asked } = await whileNoneAnswers(
      () => post(route, call, key),
      () => until(noneIsOpen),
    );
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: route.success,
      text: answer.text,
    });
    if (isWaiting(route)) expect(asked).toBe(true);
    const again = await post(route, call, key);
    expect([again.text, again.headers.get("idempotency-replayed")]).toEqual([answer.text, "true"]);
  });
});

describe.each(posts.filter(isWaiting))("$method $path, whose work waits for a provider", (route) => {
  const example = exampleOf(route.id);
  const other = (call: Call): Call =>
    call.form
      ? { ...call, form: { ...call.form, content: "other" } }
      : { ...call, body: { ...call.body, externalId: "other" } };

  test("returns 409 for the same key meanwhile, and 422 with another body", async () => {
    const call = example(await another(example));
    const key = newKey();
    const meanwhile = async () => {
      expect(await post(route, call, key)).toMatchObject({
        status: 409,
        body: { code: "REQUEST_IN_PROGRESS" },
      });
      expect((await post(route, call, key)).headers.get("retry-after")).toBe("2");
      expect(await post(route, other(call), key)).toMatchObject({
        status: 422,
        body: { code: "IDEMPOTENCY_KEY_REUSED" },
      });
    };
    const { answer } = await whileNoneAnswers(() => post(route, call, key), meanwhile);
    expect(answer.status).toBe(route.success);
  });

  test("accepts the key of a crashed server after 90 seconds by the database's clock, and not earlier", async () => {
    const call = example(await another(example));
    const key = newKey();
    const abandon = (age: string) =>
      running.database.query(
        `update idempotency_claims set claimed_at = now() - $1::interval, claim = 'of a dead server'`,
        [age],
      );
    const meanwhile = async () => {
      await abandon("85 seconds");
      expect((await post(route, call, key)).status).toBe(409);
      await abandon("91 seconds");
    };
    await whileNoneAnswers(() => post(route, call, key), meanwhile);
    const next = await post(route, call, key);
    expect([next.status, next.headers.get("idempotency-replayed")]).toEqual([route.success, null]);
    expect((await post(route, call, key)).text).toBe(next.text);
  });
});

test("a failure releases the key at once", async () => {
  const { assistantId } = await buildWorld(
    running.api,
    namedBy(() => ({})),
  );
  const call = posts.find(({ id }) => id === "callFromPageV2")!;
  const key = newKey();
  expect((await post(call, { body: { assistantId: "unknown" } }, key)).status).toBe(400);
  expect((await post(call, { body: { assistantId } }, key)).status).toBe(200);
});
