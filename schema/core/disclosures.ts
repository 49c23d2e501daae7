import {
  defaultFieldResolver,
  Kind,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from "graphql";
import { Disclosures } from "../../src/account/audit/disclosures";
import type { Context } from "./context";

type Condition = (value: string | null, of: { readonly type?: string }) => boolean;

/** Marks a masked key, which shows only its last characters. */
const MASK = "…";

/** Fields that disclose a secret, by type and name, with the condition under which they do. */
export const DISCLOSURES: Readonly<Record<string, Readonly<Record<string, Condition>>>> = {
  Key: { value: (value, { type }) => type === "SECRET" && value !== null && !value.includes(MASK) },
  WebhookDestination: { secret: (value) => value !== null },
  Organization: { analyticUrl: (value) => value !== null },
  File: { url: (value) => value !== null },
};

/** Records each secret that a type discloses in the audit log, before it is disclosed. */
export function recordDisclosures(type: GraphQLObjectType): void {
  for (const [name, discloses] of Object.entries(DISCLOSURES[type.name] ?? {})) {
    const field = type.getFields()[name];
    if (!field) throw new Error(`DISCLOSURES names ${type.name}.${name}, which does not exist.`);
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = async (root: { id: string; type?: string }, args, context: Context, info) => {
      const value = (await resolve(root, args, context, info)) as string | null;
      if (discloses(value, root)) await note(context, type.name, root.id, name, info);
      return value;
    };
  }
}

async function note(
  { scope, caller, source, disclosed }: Context,
  recordType: string,
  recordId: string,
  field: string,
  info: GraphQLResolveInfo,
): Promise<void> {
  const disclosure = { operation: operationIn(info), recordType, recordId, fields: [{ name: field }] };
  disclosed.push(disclosure);
  await scope.of(Disclosures).record(caller, source, disclosure);
}

/** Name of the root field above a field; the path holds only its alias. */
function operationIn({ path, operation, fragments }: GraphQLResolveInfo): string {
  let root = path;
  while (root.prev) root = root.prev;
  return nameOf(String(root.key), operation.selectionSet, fragments) ?? String(root.key);
}

function nameOf(
  key: string,
  { selections }: SelectionSetNode,
  fragments: GraphQLResolveInfo["fragments"],
): string | undefined {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const { alias, name } = selection;
      if ((alias ?? name).value === key) return name.value;
      continue;
    }
    const inside =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection.selectionSet
        : fragments[selection.name.value]!.selectionSet; // validated
    const found = nameOf(key, inside, fragments);
    if (found !== undefined) return found;
  }
  return undefined;
}
