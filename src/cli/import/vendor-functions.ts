import { changeDeep, changeSchema } from "../../assistants/configurations/filled-texts";
import { listed, shortened } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import type { Fields } from "./fields";
import { textOf } from "./source";
import { EXPRESSION, withVariables } from "./vendor";
import { defined } from "./work";

/** The server of a vendor's function. */
interface Server {
  /** Path of its address. */
  readonly path: string;
  readonly secret?: string | undefined;
}

/** Without a secret of the vendor, the one that is stored here stays, as imports are repeated. */
const STORED = { stored: true };

/** A function of a vendor as it is written here. @param path of its name, description and parameters */
export function functionFor(
  fields: Fields,
  path: string,
  server: Server | undefined,
  notes: string[],
): JsonObject {
  const parameters = fields.object(`${path}.parameters`);
  const declared = defined({
    name: fields.text(`${path}.name`),
    description: withVariables(fields.text(`${path}.description`), `${path}.description`, notes),
    parameters: parameters && withVariablesInside(parameters, `${path}.parameters`, notes),
  });
  const url = server && textOf(fields.peek(server.path));
  if (url === undefined) return { type: "function", function: declared };
  asWritten(url, server!.path, notes);
  return { type: "function", function: declared, server: { url, secret: server!.secret || STORED } };
}

/** Parameters with variables as they are written here, in the places that variables are filled into. */
function withVariablesInside(parameters: JsonObject, path: string, notes: string[]): JsonObject {
  const filled = new Set<string>();
  const changed = changeSchema(
    parameters,
    (text, at) => (filled.add(at), withVariables(text, at, notes)!),
    path,
  );
  changeDeep(parameters, (text, at) => (filled.has(at) ? text : asWritten(text, at, notes)!), path);
  return changed;
}

/** A text that no variables are filled into; notes those that it has. */
export function asWritten(text: string | undefined, path: string, notes: string[]): string | undefined {
  const found = [...new Set(text?.match(EXPRESSION))];
  if (found.length > 0)
    notes.push(
      `${path} contains ${listed(found.map(shortened))}, but no variable is filled in there: it stays as written.`,
    );
  return text;
}
