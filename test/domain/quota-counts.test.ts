import { expect, jest, test } from "@jest/globals";
import { Quotas } from "../../src/account/organization/quotas";
import { StoredSize } from "../../src/account/organization/stored-size";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { statementsOf } from "../support/plans";

const CREATED = 12;
const running = useApp({ WORKER: "off" });

/** The statements of some work that count records or bytes. */
const countsOf = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await statementsOf(running.app.database, /select count\(|sum\(size\)|from stored_sizes/, work)).map(
    ({ sql }) => sql,
  );

test("concurrent requests far from the limits count an organization once", async () => {
  const { api } = await running.otherOrganization();
  const create = () => newAssistant(api);
  const counts = await countsOf(() => Promise.all(Array.from({ length: CREATED }, create)));
  expect(counts.length).toBeGreaterThan(0);
  expect(counts).toEqual([...new Set(counts)]);
  expect(await countsOf(create)).toEqual([]);
});

test("a request that counts in its transaction makes no other one wait for it", async () => {
  const { organizationId } = await running.otherOrganization();
  const scope = () => running.app.database.scope(organizationId);
  await scope().transaction(async (inside) => {
    await inside.of(Quotas).checkStorage();
    running.app.database.scope("").ports.quotas.usage.clear();
    const first = inside.of(Quotas).checkStorage();
    await scope().of(Quotas).checkStorage();
    await first;
  });
});

test("a count that fails is made again by the next request", async () => {
  const { organizationId } = await running.otherOrganization();
  const quotas = running.app.database.scope(organizationId).of(Quotas);
  jest.spyOn(StoredSize.prototype, "bytes").mockRejectedValueOnce(new Error("no connection"));
  await expect(quotas.checkStorage()).rejects.toThrow("no connection");
  await quotas.checkStorage();
});
