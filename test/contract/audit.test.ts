import { beforeAll, describe, expect, test } from "@jest/globals";
import { isInputObjectType, getNullableType, type GraphQLArgument, type GraphQLInputField } from "graphql";
import { routes } from "../../rest-compat/routes/index";
import { PERMISSION_OF } from "../../schema/core/access";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { recording, type AuditRow } from "../support/audit";
import { exampleOf, send } from "../support/examples";
import { operationsOf, run, variables } from "../support/operations";
import { unknownWorld, worlds, type World } from "../support/world";

const running = useApp({ OPEN_SETTINGS: "true" });
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const operations = operationsOf(schema).filter(({ name }) => name in variables);
const another = worlds(() => running.api);
let organizationId: string;
let keyId: string;
const recorded = <R>(work: () => Promise<R>) => recording(running.database, organizationId, work);

beforeAll(async () => {
  ({ id: organizationId } = await running.api.get("/rest/v1/organization", 200));
  const { keys } = await running.api.gql("{ keys { id type } }");
  keyId = keys.find(({ type }: { type: string }) => type === "SECRET").id;
});

/** Names of queries that disclose a secret. */
const DISCLOSING = ["fileDownload", "endUserExportDownload"];
/** Operations that are refused here. */
const REFUSED = ["startWidgetCall"];
const TOKENS = ["issueToken", "issueAnalyticsToken"];
/** Operations that only disclose a secret. */
const TELLS = ["identitySecret", "generateWebhookSecret", ...TOKENS, "startWidgetSession", ...DISCLOSING];
/** Operations whose record is the organization itself. */
const OF_ORGANIZATION = ["identitySecret", "generateWebhookSecret", ...TOKENS, "updateOrganization"];

type Values = Readonly<Record<string, unknown>>;

/** Paths of all input of an operation, including the schema's defaults. */
function pathsOf(given: readonly (GraphQLArgument | GraphQLInputField)[], values: Values, at = ""): string[] {
  return given.flatMap(({ name, type, defaultValue }) => {
    const value = values[name];
    const plain = getNullableType(type);
    if (value === undefined) return defaultValue === undefined ? [] : [at + name];
    return isInputObjectType(plain) && value !== null
      ? pathsOf(Object.values(plain.getFields()), value as Values, `${at}${name}.`)
      : [at + name];
  });
}

/** Every text in a value, except omitted ones. */
const textsOf = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(textsOf)
      : [];

const ADDRESS = /^(::ffff:)?127\.0\.0\.1$/;
const isDigest = (text: string) => /^[\w-]{8}\.[\w-]{43}$/.test(text);

/** Contents of a row except names, none of which may be a value that was sent or disclosed. */
const saidIn = ({ operation: _, recordType: __, fields, ...rest }: AuditRow) => [
  ...Object.values(rest).filter((value) => value !== null),
  ...fields.map(({ digest }) => digest ?? ""),
];

const fieldOf = (name: string) =>
  (schema.getMutationType()!.getFields()[name] ?? schema.getQueryType()!.getFields()[name])!;

/** Expects a complete row that contains nothing of the input except the id of its record. */
function expectRow(row: AuditRow, name: string, given: Values, told: unknown, api: "GRAPHQL" | "REST"): void {
  expect(row).toMatchObject({
    kind: TELLS.includes(name) ? "DISCLOSURE" : "CHANGE",
    interface: api,
    operation: name,
    address: expect.stringMatching(ADDRESS),
    requestId: expect.any(String),
    recordId: expect.any(String),
  });
  const visits = AUTHORIZATION[name] === "visitor";
  const key = PERMISSION_OF[name] === "import" ? expect.any(String) : keyId;
  expect(row).toMatchObject(visits ? { actor: "VISITOR" } : { actor: "SECRET", keyId: key, person: null });
  if (visits) expect(isDigest(row.person!)).toBe(true);
  const paths = pathsOf(fieldOf(name).args, given).map((path) => path.replace(/^input\./, ""));
  const names = row.fields.map((field) => field.name);
  // The argument that names the record is not listed as a field.
  expect(paths).toEqual(expect.arrayContaining(names));
  const without = paths.filter((path) => !names.includes(path));
  expect(without.length).toBeLessThanOrEqual(1);
  if (without.length > 0) expect(textsOf(given)).toContain(row.recordId);
  for (const { digest } of row.fields) if (digest !== undefined) expect(isDigest(digest)).toBe(true);
  if (OF_ORGANIZATION.includes(name)) expect(row.recordId).toBe(organizationId);
  const said = saidIn({ ...row, recordId: null });
  for (const text of [...textsOf(given), ...textsOf(told)]) if (text !== "") expect(said).not.toContain(text);
}

const audited = operations.filter(({ kind, name }) => kind === "mutation" || DISCLOSING.includes(name));

describe.each(audited)("$kind $name", (operation) => {
  const { name } = operation;
  const example = variables[name]!;
  const visits = AUTHORIZATION[name] === "visitor";
  const callerIn = (world: World): Api =>
    visits ? running.api.as({ Authorization: `Bearer ${world.visitorToken}` }) : running.api;

  test("is recorded once, with its actor, record and fields, but without values", async () => {
    const world = await another(example, ...(visits ? (["visitorToken"] as const) : []));
    const given = example(world);
    const { rows, result } = await recorded(() => run(callerIn(world), operation, given));
    if (REFUSED.includes(name)) return expect(rows).toEqual([]);
    expect(result.error).toBeUndefined();
    expect(rows.map((row) => row.operation)).toEqual([name]);
    expectRow(rows[0]!, name, given, Object.values(result.data as Values), "GRAPHQL");
  });

  test("is not recorded if it fails or is refused", async () => {
    const strangers = example(unknownWorld());
    const { rows, result } = await recorded(async () => {
      const nobody = running.api.as({ "X-API-Key": running.publicKey });
      const refused = AUTHORIZATION[name] === "page" ? undefined : await run(nobody, operation, strangers);
      expect([undefined, "FORBIDDEN"]).toContain(refused?.code);
      const names = JSON.stringify(strangers) !== JSON.stringify(example(unknownWorld()));
      return names ? run(running.api, operation, strangers) : undefined;
    });
    if (result) expect(result.code).toBeDefined();
    expect(rows).toEqual([]);
  });
});

/** Secrets in a REST answer: records with a secret, full SECRET keys, and links to the analytics page. */
function toldIn(body: unknown): string[] {
  if (Array.isArray(body)) return body.flatMap(toldIn);
  const { secret, type, value = "…", analyticUrl } = (body ?? {}) as Record<string, string | undefined>;
  if (secret !== undefined) return ["WebhookDestination.secret"];
  if (analyticUrl !== undefined) return ["Organization.analyticUrl"];
  return type === "SECRET" && !value.includes("…") ? ["Key.value"] : [];
}

const toldTexts = (body: unknown): string[] => {
  if (Array.isArray(body)) return body.flatMap(toldTexts);
  const { secret, value, analyticUrl, token, url } = (body ?? {}) as Record<string, string | undefined>;
  return [secret, value, analyticUrl, token, url].filter((text) => text !== undefined);
};

const served = routes.filter(({ document }) => document !== undefined);

describe.each(served)("$method $path", (route) => {
  const field = /\bresult: (\w+)/.exec(route.document!)?.[1] ?? "";
  const isAudited = audited.some(({ name }) => name === field);

  test(
    isAudited
      ? "is recorded as its operation is, with the secrets that it tells"
      : "is recorded by its secrets alone",
    async () => {
      const example = exampleOf(route.id);
      const call = example(await another(example));
      const { rows, result } = await recorded(() => send(running.api, route, call));
      expect(result.status).toBe(route.success);
      const secrets = rows.filter(
        ({ kind, fields: [first] }) => kind === "DISCLOSURE" && first?.name !== undefined,
      );
      const told = secrets.map(({ recordType, fields: [first] }) => `${recordType}.${first!.name}`);
      const own = rows.filter((row) => TELLS.includes(field) || !secrets.includes(row));
      if (!TELLS.includes(field)) expect(told).toEqual(toldIn(result.body));
      expect(own.map((row) => row.operation)).toEqual(isAudited ? [field] : []);
      for (const row of rows) {
        expect(row).toMatchObject({ actor: "SECRET", keyId, interface: "REST", operation: field });
        expect(row.recordId).toEqual(expect.any(String));
        expect(row.requestId).toBe(result.headers.get("x-request-id"));
        const said = JSON.stringify(saidIn({ ...row, recordId: null }));
        for (const text of textsOf([call.body, call.form?.content, call.form?.name, toldTexts(result.body)]))
          expect(said).not.toContain(`"${text}"`);
      }
    },
  );
});
