import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { BreakingChangeType, buildSchema, findBreakingChanges, findDangerousChanges } from "graphql";

const schemaIn = (path: string) => buildSchema(readFileSync(path, "utf8"));
/** The schema of the last release; see CONTRIBUTING.md. */
const released = schemaIn("schema/released.graphql");
const current = schemaIn("schema/schema.graphql");
const breaking = findBreakingChanges(released, current);

interface Accepted {
  readonly type: BreakingChangeType;
  readonly description: RegExp;
  readonly reason: string;
}

/** Breaking changes since the last release, with the reason why clients are better off with them. */
const ACCEPTED: readonly Accepted[] = [
  {
    type: BreakingChangeType.FIELD_CHANGED_KIND,
    description: /^(Query|Mutation)\.\w+ changed type from (\w+)! to \2\.$/,
    reason: "A root field that fails is null, so that the others keep their data.",
  },
  {
    type: BreakingChangeType.FIELD_CHANGED_KIND,
    description:
      /^(DeliveryAttempt\.startedAt|EndUserFact\.createdAt) changed type from String! to DateTime!\.$/,
    reason: "Every time is a DateTime. The text in the response is the same.",
  },
];

/** `npm run schema:diff` prints what has changed since the last release. */
if (process.env.SCHEMA_DIFF !== undefined) {
  const lines = (kind: string, changes: readonly { description: string }[]) =>
    changes.map(({ description }) => `${kind}: ${description}`);
  const all = [
    ...lines("breaking", breaking),
    ...lines("dangerous", findDangerousChanges(released, current)),
  ];
  writeFileSync(process.env.SCHEMA_DIFF, `${all.join("\n")}\n`);
}

test("every breaking change of the GraphQL schema since the last release has a reason", () => {
  const accepts = ({ type, description }: (typeof breaking)[number]) =>
    ACCEPTED.some((accepted) => accepted.type === type && accepted.description.test(description));
  expect(breaking.filter((change) => !accepts(change)).map(({ description }) => description)).toEqual([]);
});

test.each(ACCEPTED)("$reason: still a change since the last release", ({ description }) => {
  expect(breaking.some((change) => description.test(change.description))).toBe(true);
});

test("a removed field, a changed type and a new required argument are found", () => {
  const now = buildSchema(`type Query { b(x: Int!): Int }`);
  const found = findBreakingChanges(buildSchema(`type Query { a: Int b: String }`), now);
  expect(found.map(({ type }) => type).sort()).toEqual([
    "FIELD_CHANGED_KIND",
    "FIELD_REMOVED",
    "REQUIRED_ARG_ADDED",
  ]);
});
