import { readdirSync, readlinkSync, statSync } from "node:fs";
import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "@jest/globals";
import { emptyFolder, preparedDatabase, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";

const part = (name: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
/** The first half of a form, which ends in the content of its file. */
const halfOf = (name: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a.txt"\r\n\r\n${"private ".repeat(50_000)}`;
const query = "mutation ($file: Upload!) { uploadFile(file: $file) { id } }";

test.each([
  ["REST", "/rest/v1/files/upload", halfOf("file")],
  [
    "GraphQL",
    "/graphql",
    part("operations", JSON.stringify({ query, variables: { file: null } })) +
      part("map", '{"file":["variables.file"]}') +
      halfOf("file"),
  ],
])(
  "a server that is killed during an upload by %s leaves nothing of the file",
  async (_interface, path, half) => {
    const folder = emptyFolder();
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), TMPDIR: folder };
    const { api, url, pid, end } = await startServer(env);
    const headers = { ...api.headers, "Content-Type": "multipart/form-data; boundary=b" };
    const sending = request(`${url}${path}`, { method: "POST", headers });
    const broken = once(sending, "response").catch((error: unknown) => error);
    sending.write(half);
    await until(() => hasWrittenIn(folder, pid));
    await end("SIGKILL");
    expect(await broken).toMatchObject({ code: "ECONNRESET" });
    expect(readdirSync(folder)).toEqual([]);
  },
  2 * SERVER_TIMEOUT_MS,
);

/** Whether a process has written to a file in a folder. Linux marks names that were removed. */
function hasWrittenIn(folder: string, pid: number): boolean {
  const handles = readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
  return handles.some((handle) => {
    try {
      return readlinkSync(handle).startsWith(folder) && statSync(handle).size > 0;
    } catch {
      return false; // closed meanwhile
    }
  });
}
