import { beforeAll, describe, expect, test } from "@jest/globals";
import { AuditEvents } from "../../src/account/audit/audit-events";
import type { AuditActor } from "../../src/account/audit/note";
import type { ListOrder } from "../../src/platform/database/lists/connection";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { unchecked } from "../support/plans";

const running = useApp();
const ENTRIES = 90;

let organizationId: string;
let expected: (actor: string) => Promise<number[]>;

beforeAll(async () => {
  await newAssistant(running.api);
  await running.api.gql("{ auditHead { position } }"); // gives the entries so far their positions
  const { id } = await running.api.get("/rest/v1/organization", 200);
  await running.database.query(
    unchecked(`insert into audit_events (organization_id, position, id, kind, actor, interface, operation, record_type, fields,
       created_at, previous_hash, hash)
     select '${id}', 100 + n, 'entry-' || n, 'CHANGE', case when n % 13 = 3 then 'TOKEN' when n in (1, 90) then 'VISITOR' else 'SECRET' end,
       'GRAPHQL', 'postMessage', 'Chat', '[]', now(), 'none', 'none' from generate_series(1, ${ENTRIES}) n;
     update audit_heads set position = 100 + ${ENTRIES} where organization_id = '${id}'`),
  );
  organizationId = id;
  expected = async (actor) => {
    const rows = await running.database.query<{ position: string }>(
      `select position from audit_events where organization_id = '${id}' and actor = '${actor}' order by position`,
    );
    return rows.map(({ position }) => Number(position));
  };
});

/** Reads a list page by page as a client does, each page in parts. */
async function readAll(
  actor: AuditActor,
  take: number,
  part: number,
  isForward: boolean,
  orderBy: ListOrder,
) {
  const found: number[] = [];
  for (let cursor: string | null = null, pages = 0; ; pages++) {
    expect(pages).toBeLessThan(1_000);
    const scope = running.app.database.scope(organizationId);
    const query = {
      orderBy,
      ...(isForward ? { first: take, after: cursor } : { last: take, before: cursor }),
    };
    const limits = { wholeMs: 0, part, partsMs: 0 };
    const { nodes, pageInfo } = await scope.of(AuditEvents).list(query, { actor }, limits);
    const positions = nodes.map(({ position }) => position);
    found.push(...(isForward ? positions : positions.toReversed()));
    const [hasMore, end] = isForward
      ? [pageInfo.hasNextPage, pageInfo.endCursor]
      : [pageInfo.hasPreviousPage, pageInfo.startCursor];
    if (!hasMore) return found;
    if (nodes.length < take)
      expect(scope.notes.warnings).toEqual([
        `The list was searched only up to position ${end}, because it takes too long to find entries by these conditions. Continue with ${isForward ? "after" : "before"}: "${end}", or add a condition such as recordId.`,
      ]);
    cursor = end;
  }
}

describe("entries of an actor that no index finds are read in parts, each entry once", () => {
  const CASES = (["TOKEN", "VISITOR", "SYSTEM", "SECRET"] as const).flatMap((actor) =>
    [1, 7].flatMap((take) => [4, 1_000].map((part) => [actor, take, part] as const)),
  );
  test.each(CASES)("%s, pages of %i, parts of %i", async (actor, take, part) => {
    const oldestFirst = await expected(actor);
    for (const isForward of [true, false])
      for (const orderBy of ["NEWEST_FIRST", "OLDEST_FIRST"] as const) {
        const isAscending = isForward === (orderBy === "OLDEST_FIRST");
        expect(await readAll(actor, take, part, isForward, orderBy)).toEqual(
          isAscending ? oldestFirst : oldestFirst.toReversed(),
        );
      }
  });
});
