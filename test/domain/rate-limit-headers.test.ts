import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { count } from "../../src/http/limits";

test("the headers list each limit once, first the one with the fewest requests left", async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const small = new RateLimiterMemory({ points: 3, duration: 60 });
  const large = new RateLimiterMemory({ points: 9, duration: 60 });
  const headers = () => [response.getHeader("RateLimit-Policy"), response.getHeader("RateLimit")];
  await count(response, "large", large, "a");
  await count(response, "small", small, "a");
  expect(headers()).toEqual(['"small";q=3;w=60, "large";q=9;w=60', '"small";r=2;t=60, "large";r=8;t=60']);
  await count(response, "large", large, "a", 7);
  expect(headers()).toEqual(['"large";q=9;w=60, "small";q=3;w=60', '"large";r=1;t=60, "small";r=2;t=60']);
  await expect(count(response, "large", large, "a", 2)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(headers()[1]).toBe('"large";r=0;t=60, "small";r=2;t=60');
  expect(response.getHeader("Retry-After")).toBe("60");
});
