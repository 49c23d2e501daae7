import { beforeAll, expect, test } from "@jest/globals";
import { Knowledge } from "../../src/assistants/knowledge/knowledge";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { expectBoundedReads, unchecked } from "../support/plans";

const running = useApp();

/** Files of an organization, of which its assistants have one each, and the passages of each file. */
const FILES = 3_000;
const PASSAGES = 20;
/** Pages of 8 kB that a statement may read, 110 of them for the dictionaries of languages. All passages take 2,000. */
const MOST_BUFFERS = 250;

let organizationId: string;
let assistantId: string;

beforeAll(async () => {
  const { api, database } = running;
  assistantId = await quietAssistant(api);
  ({ id: organizationId } = await api.get("/rest/v1/organization", 200));
  const files = `select '${organizationId}' as organization_id, 'file-' || n as id, n from generate_series(1, ${FILES}) n`;
  await database.query(
    unchecked(`insert into files (organization_id, id, name, mime_type, detected_type, size)
      select organization_id, id, 'Prices', 'text/plain', 'text/plain', 1 from (${files}) files;
     insert into assistant_files (organization_id, assistant_id, file_id, status, passages)
      select organization_id, case n when 7 then '${assistantId}' else 'other-' || n end, id, 'READY', ${PASSAGES} from (${files}) files;
     insert into passages (organization_id, id, file_id, ordinal, content)
      select organization_id, id || '-' || ordinal, id, ordinal, 'A parcel of size ' || ordinal || ' costs ' || n || ' euros.'
      from (${files}) files, generate_series(0, ${PASSAGES} - 1) ordinal`),
  );
  for (const table of ["files", "assistant_files", "passages"])
    await database.query(`vacuum analyze ${table}`);
}, 120_000);

test.each([
  ["that an assistant has now", undefined],
  ["of a version", ["file-7"]],
])("of 3,000 files, a bounded part is read to search those %s", async (_, fileIds) => {
  const knowledge = running.app.database.scope(organizationId).of(Knowledge);
  const search = async () => ({
    found: await knowledge.findByWords("What does a parcel cost?", assistantId, { resources: "", fileIds }),
    beginnings: await knowledge.beginnings(assistantId, { fileIds }),
  });
  const { found, beginnings } = await search();
  expect(new Set(found.map(({ passage }) => passage.fileId))).toEqual(new Set(["file-7"]));
  expect(beginnings[0]).toBe("A parcel of size 0 costs 7 euros.");
  await expectBoundedReads(running, /\b(files|assistant_files|passages)\b/, search, MOST_BUFFERS);
});
