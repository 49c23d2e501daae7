import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { useApp } from "../support/app";
import { rawHead, type ReceivedAnswer } from "../support/raw";

const running = useApp({ OPEN_SETTINGS: "loopback" });

const ask = (path: string, headers: readonly string[]) => rawHead(running.url, `GET ${path}`, headers);
const host = () => `Host: ${new URL(running.url).host}`;
const key = () => `X-API-Key: ${running.secretKey}`;

/** The headers of a WebSocket. */
const UPGRADE = [
  ...["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
  ...["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: graphql-transport-ws"],
];
const BROWSER = ["Accept: text/html"];

/** How each kind of request reads the problem of an error. */
const KINDS: Readonly<Record<string, readonly [paths: readonly string[], headers: readonly string[]]>> = {
  REST: [["/rest/v1/settings", "/rest/v1/assistants?take=5", "/rest/v1/nothing"], []],
  GraphQL: [["/graphql?query=%7B__typename%7D", "/graphql"], []],
  "a program": [["/health/live", "/rest/docs", "/", "/nothing", "/mcp", "/metrics"], []],
  "a browser": [["/", "/docs", "/widget/demo", "/nothing"], BROWSER],
  "a WebSocket": [["/graphql", "/graphql?a=1"], UPGRADE],
  "a WebSocket elsewhere": [["/nothing"], UPGRADE],
};
const REQUESTS = Object.entries(KINDS).flatMap(([kind, [paths, headers]]) =>
  paths.map((path) => ({ kind, path, headers })),
);

interface Refusal {
  readonly code: string;
  readonly details: readonly unknown[];
  readonly errors?: readonly { readonly extensions: Pick<Refusal, "code" | "details"> }[];
}

function expectRefusal(
  { path, kind }: { path: string; kind: string },
  sent: ReceivedAnswer,
  problem: string,
) {
  expect([path, problem, sent.status]).toEqual([path, problem, 400]);
  if (kind === "a browser") {
    expect(sent.headers).toContain("content-type: text/html");
    expect(sent.body).toContain(`<p>Host: ${problem}`);
    return;
  }
  const body = JSON.parse(sent.body) as Refusal;
  const expected = {
    code: "BAD_USER_INPUT",
    details: [{ path: "Host", message: expect.stringContaining(problem) as unknown }],
  };
  expect(body).toMatchObject({ ...expected, statusCode: 400 });
  if (path.startsWith("/graphql")) expect(body.errors).toMatchObject([{ extensions: expected }]);
  else expect(body.errors).toBeUndefined();
}

const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at));
/** Characters of a registered name (RFC 3986, 3.2.2), besides percent-encoded ones. */
const OF_NAMES = PRINTABLE.filter((character) => /[\w.~!$&'()*+,;=-]/.test(character));
const OTHERS = [...PRINTABLE.filter((character) => !OF_NAMES.includes(character)), "\t", "ü"];

const VALID = [
  ...[
    "",
    "localhost",
    "LOCALHOST:4000",
    "my_service",
    "example.com.",
    "example.com.:80",
    "a:",
    ":80",
    "%C3%BC",
  ],
  ...["127.0.0.1", "127.0.0.1:4000", "[::1]", "[::1]:4000", "[::ffff:127.0.0.1]", "[fe80::1%25eth0]:80"],
  ...OF_NAMES.map((character) => `a${character}b:4000`),
];
const INVALID = [
  ...OTHERS.map((character) => `a${character}b`),
  ...["a:80:90", "a::80", "::1", "a:80a", "a:+80", "a:-1", "a: 80", "a:0x50", "user@a", "user:password@a:80"],
  ...["[::1", "::1]", "[]", "[::1]80", "[::1]:a", "[127.0.0.1]", "[localhost]", "a[::1]", "[::1:::2]"],
  ...["%", "%C", "%GG", "http://a", "a/b", "a, b", "a,b c", "\u00a0", "a\u00ff"],
];

describe.each(REQUESTS)("$kind at $path", (request) => {
  const { path, headers } = request;

  test("is refused if the header Host is invalid", async () => {
    for (const value of INVALID)
      expectRefusal(
        request,
        await ask(path, [`Host: ${value}`, ...headers, key()]),
        "must be a host name or IP address, with or without a port",
      );
  });

  test("is refused with two Host headers, also equal ones", async () => {
    for (const second of ["Host: evil.example", "host: localhost", "Host:", host()])
      expectRefusal(request, await ask(path, [host(), second, ...headers, key()]), "must be sent once");
  });

  test("is refused without the header Host", async () => {
    expectRefusal(request, await ask(path, [...headers, key()]), "is required");
  });
});

test.each(VALID)("the header Host %j is accepted", async (value) => {
  const answer = await ask("/rest/v1/assistants", [`Host: ${value}`, key()]);
  expect(answer.status).toBe(200);
  const socket = new WebSocket(`${running.url.replace("http", "ws")}/graphql`, "graphql-transport-ws", {
    headers: { Host: value },
  });
  await once(socket, "open");
  socket.close();
});

test("an invalid header Host is refused beside a request target in absolute form", async () => {
  const { status } = await ask(`${running.url}/health/live`, ["Host: a b"]);
  expect(status).toBe(400);
});
