/** Fields of voice, SMS and chat configurations that REST can only read. */
const RAG_FIELDS = ["isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult"] as const;

/** GraphQL mutations that change fields of responses, by `Type.field` or field name. */
const CHANGED_BY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(RAG_FIELDS.map((name) => [name, "updateRagSettings"])),
  mode: "updateThemeConfiguration",
};

/** Reasons why nothing changes a field of a response, by `Type.field` or field name. */
const FIXED: Readonly<Record<string, string>> = {
  id: "the service assigns it",
  createdAt: "the service sets it",
  updatedAt: "the service sets it",
  template: "only assistants that come with the service are templates",
  "Key.value": "the service generates it, so create another key for a new value",
  ...Object.fromEntries(
    ["type", "name", "expiresAt", "assistantIds", "permissions"].map((name) => [
      `Key.${name}`,
      "it is fixed when the key is created, so create another key",
    ]),
  ),
  token: "the service generates it",
  "IssuedToken.expiresAt": "send expiresIn instead",
  reply: "the assistant writes it",
  greeting: "it is initialMessage of the chat configuration, with variables filled in",
  webCallUrl: "the service generates it",
};

const rowOf = (table: Readonly<Record<string, string>>, type: string, field: string): string | undefined =>
  table[`${type}.${field}`] ?? table[field];

/** The GraphQL mutation that changes a field which REST can only read. */
export const mutationFor = (type: string, field: string): string | undefined =>
  rowOf(CHANGED_BY, type, field);

/** "`a`, `b`, and `c`" */
const listed = (names: readonly string[]): string =>
  new Intl.ListFormat("en").format(names.map((name) => `\`${name}\``));

/** A sentence for each mutation that changes fields which REST can only read. */
export function readOnlyNotes(type: string, fields: readonly string[]): string[] {
  const mutations = new Set(fields.map((field) => mutationFor(type, field)));
  mutations.delete(undefined);
  return [...mutations].map((mutation) => {
    const names = fields.filter((field) => mutationFor(type, field) === mutation);
    return `Read-only here, changed by the GraphQL mutation \`${mutation}\`: ${listed(names)}.`;
  });
}

/** How to change a field of a response that a body cannot change, or why it never changes. */
export function adviceFor(type: string, field: string): string {
  const mutation = mutationFor(type, field);
  if (mutation !== undefined) return `change it with the GraphQL mutation ${mutation}`;
  const reason = rowOf(FIXED, type, field);
  if (reason === undefined) throw new Error(`rest-compat/read-only.ts has no row for ${type}.${field}`);
  return reason;
}
