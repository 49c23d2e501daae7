import { checkFolder, reportIn } from "./check-folder";
import { NEVER_SHOWN } from "./format";
import { importAssistants } from "./import-assistants";
import { importEndUsers, importFiles, importLogs } from "./import-contents";
import { importDestinations, importKeys, importProjects, importSettings } from "./import-settings";
import { recordsOf, type FolderImport } from "./import-work";
import { importDeployments, importWorkflows } from "./import-workflows";

/** Imports an export into the organization of the target's key. @throws DamagedFolderError before anything is stored */
export async function importFolder(work: FolderImport): Promise<void> {
  const { folder, report } = work;
  work.progress("Checking the files");
  await checkFolder(folder);
  await importProjects(work);
  await importDestinations(work);
  await importFiles(work);
  await importAssistants(work);
  const known = new Set<string>();
  for await (const { id } of recordsOf(work, "assistants")) known.add(id as string);
  await importWorkflows(work, known);
  await importDeployments(work, known);
  await importKeys(work, known);
  await importLogs(work, known);
  await importEndUsers(work, known);
  await importSettings(work);
  const gaps = reportIn(folder)!; // checkFolder has read it
  for (const { reason } of gaps) report.note(`Missing in the folder: ${reason}`);
  for (const sentence of NEVER_SHOWN) report.note(sentence);
}
