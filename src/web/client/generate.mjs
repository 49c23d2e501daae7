// Generates the types of the REST interface and of the events from the OpenAPI document: node src/web/client/generate.mjs
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTypes, { astToString } from "openapi-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const document = JSON.parse(await readFile(join(here, "../../../rest-compat/openapi.json"), "utf8"));
const types = astToString(await openapiTypes(document));
await mkdir(join(here, "generated"), { recursive: true });
const file = join(here, "generated/rest.d.ts");
const text = `// Generated from the OpenAPI document.\n${types}`;
// A file with this content stays as it is: tsc may read it while a test builds the client.
if ((await readFile(file, "utf8").catch(() => "")) !== text) await writeFile(file, text);
