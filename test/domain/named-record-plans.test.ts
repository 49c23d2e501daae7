import { beforeAll, describe, expect, test } from "@jest/globals";
import { filesNaming, textsFrom } from "../../src/privacy/people/by-index";
import { useApp } from "../support/app";
import { expectBoundedReads, unchecked } from "../support/plans";

/** Files and received texts of the organization, and of another one. */
const MANY = 30_000;
/** Those of one person. */
const FEW = 10;
/** Pages of 8 kB that a statement may read: 150 of the catalog, for a function on a new connection. A read of a table takes more than 500. */
const MOST_BUFFERS = 250;
const LONG = "🦜".repeat(3_000);

const protections = { true: "under row-level security", false: "without row-level security" };

describe.each(Object.entries(protections))("with ROW_LEVEL_SECURITY=%s", (ROW_LEVEL_SECURITY) => {
  const running = useApp({ ROW_LEVEL_SECURITY, WORKER: "off" });
  let organizationId: string;
  const scope = () => running.app.database.scope(organizationId);

  beforeAll(async () => {
    const { database, api, otherOrganization } = running;
    ({ id: organizationId } = await api.get("/rest/v1/organization", 200));
    const other = await otherOrganization();
    for (const organization of [organizationId, other.organizationId]) {
      const key = "(array['uniqueId', 'userId', 'anonymousId', 'phoneNumber', 'chatId'])[1 + n % 5]";
      const file = (id: string, metadata: string, rows: number) =>
        unchecked(`insert into files (organization_id, id, name, mime_type, detected_type, size, metadata)
          select '${organization}', ${id}, 'notes.txt', 'text/plain', 'text/plain', 5, ${metadata} from generate_series(1, ${rows}) n`);
      await database.query(file("'file-' || n", `jsonb_build_object(${key}, 'name ' || n / ${FEW})`, MANY));
      await database.query(file("'long-' || n", `jsonb_build_object('userId', '${LONG}' || n)`, 3));
      await database.query(file("'number-' || n", "jsonb_build_object('userId', 4242)", 1));
      await database.query(
        unchecked(`insert into sms_received (organization_id, message_sid, connection_id, sms)
          select '${organization}', 'SM' || n, 'line', jsonb_build_object('from', '+4178' || n / ${FEW}) from generate_series(1, ${MANY}) n`),
      );
    }
    for (const table of ["files", "sms_received"]) await database.query(`vacuum analyze ${table}`);
  }, 300_000);

  const expectBounded = (work: () => Promise<unknown>) => {
    const { database, app } = running;
    const url = ROW_LEVEL_SECURITY === "true" ? (database.directUrl ?? database.url) : database.ownerUrl;
    return expectBoundedReads(
      { app, database: { url } },
      /files|sms_received|parley_texts_from/,
      work,
      MOST_BUFFERS,
    );
  };
  const filesBetween = (first: number, last: number, isOf: (n: number) => boolean) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index)
      .filter(isOf)
      .map((n) => `file-${n}`)
      .sort();

  test("the files that name a person or one of their chats are found by an index", async () => {
    const reach = { names: ["name 70"], chatIds: ["name 71"] };
    await expectBounded(() => filesNaming(scope(), reach));
    expect((await filesNaming(scope(), reach)).sort()).toEqual(
      [...filesBetween(700, 709, (n) => n % 5 !== 4), ...filesBetween(710, 719, (n) => n % 5 === 4)].sort(),
    );
  });

  test("files are found by a long value as a whole, and by a number", async () => {
    const found = (name: string) => filesNaming(scope(), { names: [name], chatIds: [] });
    await expectBounded(() => found(`${LONG}2`));
    expect(await found(`${LONG}2`)).toEqual(["long-2"]);
    expect(await found("4242")).toEqual(["number-1"]);
    expect(await found("nobody")).toEqual([]);
  });

  test("the texts that a number has sent are found by an index", async () => {
    await expectBounded(() => textsFrom(scope(), "+417870"));
    const expected = Array.from({ length: FEW }, (_, index) => `SM${700 + index}`);
    expect((await textsFrom(scope(), "+417870")).sort()).toEqual(expected);
  });
});
