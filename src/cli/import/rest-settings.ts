import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "./http";
import { timeOf, timesIn } from "./log-of";
import { entriesIn, firstOfEach, objectsIn, textOf } from "./source";
import { defined, mayImport, NO_IMPORTER, type Import } from "./work";

const STORE_KEY = "mutation ImportKey($input: ImportKeyInput!) { importKey(input: $input) { id status } }";
const STORE_DESTINATION =
  "mutation ImportWebhookDestination($input: ImportWebhookDestinationInput!) { importWebhookDestination(input: $input) { id } }";
const KEYS_PATH = "/rest/v1/organization/keys";
const NOT_FOUND = 404;
const SETTINGS_PATH = "/rest/v1/settings";
const KEYS = "query Keys { keys { id status } }";
const DESTINATIONS = "query WebhookDestinations { webhookDestinations { id } }";

/** Values that are cut for display. */
const MASKED = /…|\*{3}|\.{3}/;

/** Imports the keys with their values, oldest first. */
export async function importKeys(work: Import): Promise<void> {
  const { source, target, report, progress } = work;
  const listed = entriesIn(await source.json(KEYS_PATH), KEYS_PATH, report);
  const keys = await inOrder(work, firstOfEach(listed, "API key", report));
  const stored = objectsIn((await target.run(KEYS)).keys);
  for (const [index, key] of keys.entries()) {
    const id = textOf(key.id) ?? "";
    const value = textOf(key.value) ?? "";
    progress(`API keys: ${index + 1} of ${keys.length}`);
    if (value === "" || MASKED.test(value)) {
      report.refuse("The source shows no full value of this key: use a SECRET key as --from-key.", id);
      continue;
    }
    if (Array.isArray(key.permissions) && key.permissions.every((one) => one === "import")) {
      // Without its only permission, it would have no limits.
      report.note("This key may do nothing but import, which only the command line grants.", id);
      continue;
    }
    if (hasUnreadableLimits(key)) {
      report.refuse("The permissions, assistants or end of this key cannot be read.", id);
      continue;
    }
    const known = stored.find((one) => one.id === id);
    const input = inputOf(key);
    const result = await target.store("key", id, STORE_KEY, { input });
    if (!result) continue;
    if (mayImport(key)) report.note(NO_IMPORTER, id);
    if (known) report.unchanged("API keys");
    else report.stored("API keys");
    const { status } = (result.importKey ?? {}) as JsonObject;
    if (status !== key.status && key.status !== undefined)
      report.note("This key is active at the source, but was made inactive here.", id);
  }
  if (keys.some(({ createdAt }) => createdAt === undefined))
    report.note("Creation times of API keys: they are in the same order, but were created now.");
}

/** Without limits that cannot be read, a key would have more rights than at the source. */
const hasUnreadableLimits = ({ permissions, assistantIds, expiresAt }: JsonObject): boolean =>
  [permissions, assistantIds].some((list) => list != null && !Array.isArray(list)) ||
  (expiresAt != null && timeOf(expiresAt) === undefined);

function inputOf({
  id,
  value,
  type,
  status,
  name,
  expiresAt,
  permissions,
  assistantIds,
  createdAt,
}: JsonObject) {
  const allowed = Array.isArray(permissions) ? permissions.filter((one) => one !== "import") : undefined;
  return defined({
    ...{ id: textOf(id), value: textOf(value), type, status, createdAt: timeOf(createdAt) },
    ...{ name: textOf(name), expiresAt: timeOf(expiresAt) },
    permissions: allowed && allowed.length > 0 ? allowed : undefined,
    assistantIds: Array.isArray(assistantIds) ? assistantIds : undefined,
  });
}

/** Lists show the newest key first; the one that `keys/public` returns must stay the newest active one of its type. */
async function inOrder({ source, report }: Import, keys: readonly JsonObject[]): Promise<JsonObject[]> {
  const oldestFirst = keys.toReversed();
  const newest = await source.object(`${KEYS_PATH}/public`).catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error;
    if (error.status !== NOT_FOUND)
      report.note(`Which PUBLIC key is the newest was not read: ${error.message}`);
    return undefined;
  });
  const at = oldestFirst.findIndex(({ id }) => id === newest?.id);
  const last = oldestFirst.findLastIndex(({ type, status }) => type === "PUBLIC" && status === "ACTIVE");
  if (at === -1 || last <= at) return oldestFirst;
  return oldestFirst.toSpliced(last + 1, 0, oldestFirst[at]!).toSpliced(at, 1);
}

/** Imports the webhook destinations of the organization with their secrets. */
export async function importDestinations({ source, target, report, progress }: Import): Promise<void> {
  const listed = entriesIn(await source.json(SETTINGS_PATH), SETTINGS_PATH, report);
  const destinations = firstOfEach(listed, "webhook destination", report).toReversed();
  const stored = objectsIn((await target.run(DESTINATIONS)).webhookDestinations);
  for (const [index, { id: given, url, secret, name, events, ...times }] of destinations.entries()) {
    const id = textOf(given) ?? "";
    const input = defined({ id, url, secret, name: name ?? null, events, ...timesIn(times) });
    progress(`Webhook destinations: ${index + 1} of ${destinations.length}`);
    if (!(await target.store("webhook destination", id, STORE_DESTINATION, { input }))) continue;
    if (stored.some((one) => one.id === id)) report.unchanged("webhook destinations");
    else report.stored("webhook destinations");
  }
}
