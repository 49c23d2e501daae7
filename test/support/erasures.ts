import type { RunningApp } from "./app";
import { until } from "./until";

const RECEIPT =
  "id subject status matched chats messages facts contexts events files recordings texts exports textsKept callsKept requestedAt finishedAt";
const FORGET = `mutation ($uniqueId: String, $userId: String, $anonymousId: String, $phoneNumber: String) {
  forgetEndUser(uniqueId: $uniqueId, userId: $userId, anonymousId: $anonymousId, phoneNumber: $phoneNumber) { ${RECEIPT} } }`;

type Person = Partial<Record<"uniqueId" | "userId" | "anonymousId" | "phoneNumber", string>>;
type App = Pick<RunningApp, "api">;

/** Requests the erasure of a person. @returns the receipt in the response */
export const askToForget = async ({ api }: App, person: Person) =>
  (await api.gql(FORGET, { ...person })).forgetEndUser;

export const receiptOf = async ({ api }: App, id: string) =>
  (await api.gql(`query ($id: ID!) { erasure(id: $id) { ${RECEIPT} } }`, { id })).erasure;

/** Waits until an erasure is done. @returns its receipt */
export async function erased(app: App, id: string) {
  await until(async () => (await receiptOf(app, id)).status === "DONE");
  return receiptOf(app, id);
}

/** Erases a person by a worker. @returns the receipt */
export const forget = async (app: App, person: Person) => erased(app, (await askToForget(app, person)).id);
