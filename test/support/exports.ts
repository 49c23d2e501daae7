import JSZip from "jszip";
import type { RunningApp } from "./app";
import { until } from "./until";

const STATE =
  "id subject status problem size chats messages events files recordings absent requestedAt finishedAt expiresAt";
const EXPORT = `mutation ($uniqueId: String, $userId: String, $anonymousId: String, $phoneNumber: String) {
  exportEndUser(uniqueId: $uniqueId, userId: $userId, anonymousId: $anonymousId, phoneNumber: $phoneNumber) { ${STATE} } }`;

type Person = Partial<Record<"uniqueId" | "userId" | "anonymousId" | "phoneNumber", string>>;
type App = Pick<RunningApp, "api">;

/** Requests the export of a person's data. @returns the export in the response */
export const askToExport = async ({ api }: App, person: Person) =>
  (await api.gql(EXPORT, { ...person })).exportEndUser;

export const exportOf = async ({ api }: App, id: string) =>
  (await api.gql(`query ($id: ID!) { endUserExport(id: $id) { ${STATE} } }`, { id })).endUserExport;

/** Waits until an export has finished or failed. @returns the export */
export async function exported(app: App, id: string) {
  await until(async () => !["PENDING", "RUNNING"].includes((await exportOf(app, id)).status as string));
  return exportOf(app, id);
}

/** Exports a person's data by a worker. @returns the export */
export const exportPerson = async (app: App, person: Person) =>
  exported(app, (await askToExport(app, person)).id);

const LINK = "query ($id: ID!) { endUserExportDownload(id: $id) { url expiresAt } }";

export const exportLink = async ({ api }: App, id: string): Promise<{ url: string; expiresAt: string }> =>
  (await api.gql(LINK, { id })).endUserExportDownload;

/** The files of an archive, by path. */
export async function unpacked(archive: ArrayBuffer): Promise<Record<string, string>> {
  const { files } = await JSZip.loadAsync(archive, { checkCRC32: true });
  const texts = Object.values(files).map(async (file) => [file.name, await file.async("string")] as const);
  return Object.fromEntries(await Promise.all(texts));
}

/** Downloads the archive of an export by its link from the service at `url`. @returns its files */
export async function archiveOf(app: Pick<RunningApp, "api" | "url">, id: string) {
  const { pathname, search } = new URL((await exportLink(app, id)).url);
  const answer = await fetch(app.url + pathname + search);
  if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${await answer.text()}`);
  return unpacked(await answer.arrayBuffer());
}

/** The lines of an NDJSON file. */
export const rowsIn = (text: string | undefined): Record<string, unknown>[] =>
  (text ?? "").split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as never)));
