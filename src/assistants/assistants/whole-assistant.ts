import type { Scope } from "../../platform/database/scope";
import { sqlOf, statement } from "../../platform/database/statement";
import { snake } from "../../platform/database/values/names";
import { COLUMNS as CONFIGURATION_COLUMNS } from "../configurations/columns";
import { CONFIGURATIONS, type ConfigurationKind } from "../configurations/configurations";
import { COLUMNS, type AssistantRow } from "./statements";

/** The rows of an assistant. */
export interface WholeAssistant {
  readonly row: AssistantRow;
  readonly sealedToolHeaders: string | null;
  readonly configurations: Readonly<Record<string, Record<string, unknown>>>;
}

type Joined = AssistantRow & Pick<WholeAssistant, "sealedToolHeaders"> & Readonly<Record<string, unknown>>;

const KINDS = Object.keys(CONFIGURATIONS) as ConfigurationKind[]; // the keys of the constant
const columnsOf = (kind: ConfigurationKind) => [...CONFIGURATION_COLUMNS[kind], "updatedAt"];

/** Columns of configurations have names such as `voice.prompt`. */
const WHOLE = statement<Joined>(({ table, $, db }) => {
  const own = table("assistants")
    .where({ id: $(1) })
    .whereNull("deletedAt")
    .select(...COLUMNS, "sealedToolHeaders");
  const columns = KINDS.flatMap((kind) =>
    columnsOf(kind)
      .map(snake)
      .map((column) => `${CONFIGURATIONS[kind]}.${column} as "${kind}.${column}"`),
  );
  return db.raw(`
  with own as (${sqlOf(own)})
  select own.*, ${columns.join(", ")} from own
  join voice_configurations on voice_configurations.organization_id = $1 and voice_configurations.assistant_id = own.id
  join sms_configurations on sms_configurations.organization_id = $1 and sms_configurations.assistant_id = own.id
  join chat_configurations on chat_configurations.organization_id = $1 and chat_configurations.assistant_id = own.id
  join theme_configurations on theme_configurations.organization_id = $1 and theme_configurations.assistant_id = own.id`);
});

/** Reads an assistant in one statement, so all of it is of one moment. @returns undefined if there is none */
export async function wholeAssistant(scope: Scope, id: string): Promise<WholeAssistant | undefined> {
  const [joined] = await scope.read(WHOLE, [id]);
  if (!joined) return undefined;
  const pick = (columns: readonly string[], prefix = "") =>
    Object.fromEntries(columns.map((column) => [column, joined[prefix + column]]));
  return {
    row: pick(COLUMNS) as unknown as AssistantRow, // all of its columns
    sealedToolHeaders: joined.sealedToolHeaders,
    configurations: Object.fromEntries(KINDS.map((kind) => [kind, pick(columnsOf(kind), `${kind}.`)])),
  };
}
