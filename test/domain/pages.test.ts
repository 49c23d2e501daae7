import { describe, expect, test } from "@jest/globals";
import { connectionBy, spanOf, type ConnectionQuery } from "../../src/platform/database/lists/connection";
import { pageOf, window } from "../../src/platform/database/lists/page";

describe("the window of a page", () => {
  test.each([
    [{}, { order: "desc", page: 1, take: 20, offset: 0 }],
    [
      { order: null, page: null, take: null },
      { order: "desc", page: 1, take: 20, offset: 0 },
    ],
    [{ order: "asc", page: 3, take: 7 } as const, { order: "asc", page: 3, take: 7, offset: 14 }],
    [
      { page: 10_000_001, take: 1 },
      { order: "desc", page: 10_000_001, take: 1, offset: 10_000_000 },
    ],
    [
      { page: 100_001, take: 100 },
      { order: "desc", page: 100_001, take: 100, offset: 10_000_000 },
    ],
  ])("of %j is %j", (query, expected) => expect(window(query)).toEqual(expected));

  test.each([
    { page: 10_000_002, take: 1 },
    { page: 100_002, take: 100 },
    { page: 2_147_483_647, take: 100 },
  ])("of %j is beyond the limit", (query) => {
    expect(() => window(query)).toThrow(
      expect.objectContaining({
        code: "BAD_USER_INPUT",
        details: [{ path: "page", message: expect.any(String) }],
      }),
    );
  });
});

describe("a page of a short list", () => {
  const list = [1, 2, 3, 4, 5];

  test.each([
    [{}, [5, 4, 3, 2, 1]],
    [{ order: "asc" } as const, list],
    [{ take: 2 }, [5, 4]],
    [{ take: 2, page: 3 }, [1]],
    [{ take: 2, page: 4 }, []],
  ])("for %j has %j", (query, data) => expect(pageOf(list, query).data).toEqual(data));

  test.each([
    [{ take: 2 }, { pageCount: 3, hasPreviousPage: false, hasNextPage: true }],
    [
      { take: 2, page: 3 },
      { pageCount: 3, hasPreviousPage: true, hasNextPage: false },
    ],
    [{ take: 5 }, { pageCount: 1, hasPreviousPage: false, hasNextPage: false }],
  ])("for %j has the position of the page", (query, meta) => {
    expect(pageOf(list, query).meta).toMatchObject({ ...meta, itemCount: 5 });
  });

  test("leaves the list unchanged", () => {
    pageOf(list, { order: "desc" });
    expect(list).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("a connection", () => {
  const rows = ["c", "b", "a"].map((id) => ({ id }));
  const pageOfRows = (query: ConnectionQuery, found = rows) =>
    connectionBy(
      found,
      query,
      ({ id }) => id,
      () => Promise.resolve(3),
    );
  const ids = (query: ConnectionQuery) => pageOfRows(query).nodes.map(({ id }) => id);

  test("uses one additional entry to know whether others follow", () => {
    expect(pageOfRows({ first: 2 })).toMatchObject({
      nodes: [{ id: "c" }, { id: "b" }],
      edges: [
        { cursor: "c", node: { id: "c" } },
        { cursor: "b", node: { id: "b" } },
      ],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: "c", endCursor: "b" },
    });
    expect(pageOfRows({ first: 3 }).pageInfo).toMatchObject({ hasNextPage: false, endCursor: "a" });
    expect(pageOfRows({ first: 3 }, []).pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    });
  });

  test("has a page before one that follows a cursor", () => {
    expect(pageOfRows({ first: 2, after: "d" }).pageInfo.hasPreviousPage).toBe(true);
  });

  test("from the end is read in the opposite order, and has the order of the list", () => {
    expect(spanOf({ last: 2, before: "e", after: "a" })).toEqual({
      take: 2,
      order: "asc",
      after: "e",
      before: "a",
    });
    expect(spanOf({ last: 2, orderBy: "OLDEST_FIRST" }).order).toBe("desc");
    expect(ids({ last: 2 })).toEqual(["b", "c"]);
    expect(pageOfRows({ last: 2 }).pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
    expect(pageOfRows({ last: 3, before: "d" }).pageInfo).toMatchObject({
      hasPreviousPage: false,
      hasNextPage: true,
    });
  });

  test("is not read from both ends", () => {
    expect(() => spanOf({ first: 1, last: 1 })).toThrow(
      expect.objectContaining({
        code: "BAD_USER_INPUT",
        details: [{ path: "last", message: "must not be given together with first" }],
      }),
    );
  });
});
