import { expect, test } from "@jest/globals";
import { ENDED_REASONS } from "../../src/chats/chats/ended-reasons";
import { sourceFiles } from "../support/source";

/** Places that end a conversation with a reason of the service. */
const PLACES = [
  /\b(?:endIfLive|endAll|endAsFailed|endFor)\([^;]*?"([a-z]+(?:-[a-z]+)*)"/g,
  /new CallRefused\([^;]*?,\s*"([a-z-]+)",?\s*\)/g,
  /\breason: "([a-z]+-[a-z-]+)"/g,
  /\breason = "([a-z-]+)"/g,
  /\bconst (?:STUCK|ENDED|UNKNOWN) = "([a-z-]+)"/g,
];

test("every reason by which the service ends a conversation is described", () => {
  const used = sourceFiles("src").flatMap(({ text }) =>
    PLACES.flatMap((place) => [...text.matchAll(place)].map(([, reason]) => reason!)),
  );
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((reason) => !Object.hasOwn(ENDED_REASONS, reason))).toEqual([]);
});
