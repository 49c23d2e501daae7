import { importAssistants } from "./rest-assistants";
import { importFiles } from "./rest-files";
import { importLogs } from "./rest-logs";
import { importDestinations, importKeys } from "./rest-settings";
import { RefusedError } from "./http";
import { required, textOf } from "./source";
import type { Import } from "./work";

/** Data that no service shows over the documented interface, whatever it has. Of another Parley, an export has most of it. */
export const NEVER_GIVEN = [
  "Bearer tokens: those of the source end with it. Clients request new ones with their old keys.",
  "Credentials of models, the voice engine and telephony, and mappings of models: connect them again.",
  "The organization's name, retention and requireSignedIdentity.",
  "Connected phone numbers, projects with their webhook destinations, workflows and deployments.",
  "Of assistants: keys in files, projects, attached files, tool servers, allowed origins of widgets and missingVariables.",
  "Of assistants: drafts, and versions with their notes. The import makes versions of its own.",
  "Of webhook destinations: keys in files, and whether one is disabled. Those that are new here are enabled.",
  "Of API keys: their last uses.",
  "Of conversations: variables, versions, drafts, workflows, deployments, and calls with their times: of a call, there is only the log.",
  "What assistants remember of people, past events and deliveries, logs of deleted assistants, the audit log, erasures, and exports of people.",
];

/** Copies an organization from a service that answers the documented REST interface. */
export async function importRest(work: Import): Promise<void> {
  const { source, report } = work;
  const { id } = await required(() => source.object("/rest/v1/organization"));
  const assistants = await importAssistants(work);
  await part(work, "API keys", () => importKeys(work));
  await part(work, "Webhook destinations", () => importDestinations(work));
  await part(work, "Files", () => importFiles(work));
  for (const assistant of assistants) await part(work, "Logs", () => importLogs(work, assistant));
  report.note(`The organization's id, ${textOf(id)}: records have that of the organization here.`);
  for (const sentence of NEVER_GIVEN) report.note(sentence);
}

/** Runs a part of the import. If the source does not show it, the report says so. */
async function part({ report }: Import, what: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    report.refuse(`${what}: ${error.message}`);
  }
}
