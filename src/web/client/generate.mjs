// Generates the types of the REST interface and of the events from the OpenAPI document: node src/web/client/generate.mjs
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTypes, { astToString } from "openapi-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const document = JSON.parse(await readFile(join(here, "../../../rest-compat/openapi.json"), "utf8"));
const types = astToString(await openapiTypes(document));
await mkdir(join(here, "generated"), { recursive: true });
await writeFile(join(here, "generated/rest.d.ts"), `// Generated from the OpenAPI document.\n${types}`);
