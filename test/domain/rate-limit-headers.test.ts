import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { count } from "../../src/http/limits/limits";
import { SharedLimit } from "../../src/http/limits/shared-limit";

test("the headers list each limit once, first the one with the fewest requests left", () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const small = new SharedLimit(3, 60);
  const large = new SharedLimit(9, 60);
  const headers = () => [response.getHeader("RateLimit-Policy"), response.getHeader("RateLimit")];
  count(response, "large", large, "a");
  count(response, "small", small, "a");
  expect(headers()).toEqual(['"small";q=3;w=60, "large";q=9;w=60', '"small";r=2;t=60, "large";r=8;t=60']);
  count(response, "large", large, "a", 7);
  expect(headers()).toEqual(['"large";q=9;w=60, "small";q=3;w=60', '"large";r=1;t=60, "small";r=2;t=60']);
  expect(() => count(response, "large", large, "a", 2)).toThrow("More than 9 requests in 60 seconds.");
  expect(headers()[1]).toBe('"large";r=0;t=60, "small";r=2;t=60');
  expect(response.getHeader("Retry-After")).toBe("60");
});
