import { afterAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { closeRaw, rawRequest } from "../support/raw";

const MOST = 1_000;
const running = useApp({ MAX_FILE_BYTES: String(MOST) });
const UPLOAD = "/rest/v1/files/upload";

afterAll(closeRaw);

const paths = ({ body }: { body: { details?: { path: string }[] } }) => body.details?.map(({ path }) => path);

describe("a form", () => {
  const FORM = { "Content-Type": "multipart/form-data; boundary=x" };
  const part = (text: string) => `--x\r\nContent-Disposition: form-data; ${text}\r\n`;
  const file = part('name="file"; filename="a.txt"\r\n\r\nhello');
  const send = (body: string, headers: Record<string, string> = FORM) =>
    running.api.request("POST", UPLOAD, body, headers);

  test.each([
    ["without a file", "", ["file"]],
    ["with two files", file + file, ["file"]],
    ["with a file under another name", file.replace('"file"', '"document"'), ["document", "file"]],
    ["with text instead of a file", part('name="file"\r\n\r\nhello'), ["file"]],
    ["with metadata that is not JSON", file + part('name="metadata"\r\n\r\n{'), ["metadata"]],
    ["with metadata that is null", file + part('name="metadata"\r\n\r\nnull'), ["metadata"]],
    ["with metadata sent twice", file + part('name="metadata"\r\n\r\n{}').repeat(2), ["metadata"]],
    ["with metadata that is a list", file + part('name="metadata"\r\n\r\n[1]'), ["metadata"]],
    [
      "with metadata that contains __proto__",
      file + part('name="metadata"\r\n\r\n{"__proto__":{}}'),
      ["metadata"],
    ],
    [
      "with metadata 10,000 deep",
      file + part(`name="metadata"\r\n\r\n${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`),
      ["metadata"],
    ],
    [
      "with metadata of more than 1 MiB",
      file + part(`name="metadata"; filename="m"\r\n\r\n{"a":"${"a".repeat(1 << 20)}"}`),
      ["metadata"],
    ],
    ["with a file and a field without a name", part('filename="a"\r\n\r\nhello') + file, [""]],
    ["with an unknown field", file + part('name="metadat"\r\n\r\n{}'), ["metadat"]],
    ["with broken metadata and no file", part('name="metadata"\r\n\r\n{'), ["file", "metadata"]],
  ])("%s returns 400 that names it", async (_, parts, wrong) => {
    const answer = await send(`${parts}--x--\r\n`);
    expect([answer.text, answer.status, paths(answer)?.sort()]).toEqual([answer.text, 400, wrong]);
  });

  test("whose client has set the header without a boundary is told to leave it to the client", async () => {
    const { body } = await send(file, { "Content-Type": "multipart/form-data" });
    expect(body.message).toMatch(/^the form has no boundary: .* which HTTP clients set themselves/);
  });

  test.each([
    ["without a boundary", file, { "Content-Type": "multipart/form-data" }],
    ["that ends early", file, FORM],
    ["that is empty", "", FORM],
    ["that is none", "hello", FORM],
  ])("%s returns 400", async (_, body, headers) => {
    expect(await send(body, headers)).toMatchObject({ status: 400, body: { code: "BAD_USER_INPUT" } });
  });

  test("accepts metadata as a file part, which clients send to set its type", async () => {
    const metadata = part(
      'name="metadata"; filename="blob"\r\nContent-Type: application/json\r\n\r\n{"a":1}',
    );
    for (const parts of [metadata + file, file + metadata])
      expect(await send(`${parts}--x--\r\n`)).toMatchObject({
        status: 201,
        body: { name: "a.txt", metadata: { a: 1 } },
      });
    for (const { id } of (await running.api.get("/rest/v1/files", 200)).data)
      await running.api.delete(`/rest/v1/files/${id}`, 200);
  });

  test("that is malformed returns 400, however much data follows", async () => {
    const body = `--x\r\n\0\r\n\r\n${"x".repeat(20_000_000)}`;
    const headers = { ...FORM, "X-API-Key": running.secretKey };
    const sent = {
      method: "POST",
      path: UPLOAD,
      headers: { ...headers, "Transfer-Encoding": "chunked" },
      body,
    };
    expect((await rawRequest(running.url, sent)).status).toBe(400);
  });

  test("of another type returns 415", async () => {
    expect((await send("{}", { "Content-Type": "application/json" })).status).toBe(415);
    expect((await running.api.request("POST", UPLOAD)).status).toBe(415);
  });

  test("accepts a file of MAX_FILE_BYTES and refuses every larger one alike, also through GraphQL", async () => {
    const sized = (bytes: number) => file.replace("hello", "x".repeat(bytes));
    expect((await send(`${sized(MOST)}--x--\r\n`)).status).toBe(201);
    const query = "mutation ($file: Upload!) { uploadFile(file: $file) { id } }";
    const message = `The file must be at most ${MOST} bytes.`;
    // The service reads the form, or refuses it by its length alone: 2 MiB more on REST, 8 MiB more through GraphQL.
    for (const bytes of [MOST + 1, 3 << 20, 9 << 20]) {
      expect(await send(`${sized(bytes)}--x--\r\n`)).toMatchObject({
        status: 413,
        body: { code: "PAYLOAD_TOO_LARGE", message },
      });
      const form = new FormData();
      form.set("operations", JSON.stringify({ query, variables: { file: null } }));
      form.set("map", JSON.stringify({ 0: ["variables.file"] }));
      form.set("0", new Blob(["x".repeat(bytes)]), "a.txt");
      expect(await running.api.request("POST", "/graphql", form)).toMatchObject({
        status: 413,
        body: { errors: [{ message, extensions: { code: "PAYLOAD_TOO_LARGE" } }] },
      });
    }
    expect((await running.api.get("/rest/v1/files", 200)).meta.itemCount).toBe(1);
  });

  test("of GraphQL accepts one file", async () => {
    const form = new FormData();
    const query = "mutation ($one: Upload!, $two: Upload!) { uploadFile(file: $one) { id } }";
    form.set("operations", JSON.stringify({ query, variables: {} }));
    form.set("map", JSON.stringify({ 0: ["variables.one"], 1: ["variables.two"] }));
    for (const name of ["0", "1"]) form.set(name, new Blob(["x"]), "a.txt");
    const { status, body } = await running.api.request("POST", "/graphql", form);
    expect([status, body.errors[0].message]).toEqual([
      413,
      "A request may contain only one file. Send a request for each file.",
    ]);
  });
});
