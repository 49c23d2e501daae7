import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { elsewhere, waitingInstallation } from "../support/installation";
import { emptyDatabase, emptyFolder, runToEnd, SERVER_TIMEOUT_MS, startServer } from "../support/server";

const FILE =
  "mutation ($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id } }";

test(
  "a backup contains the content of imported files, whatever the form of their ids",
  async () => {
    const { env, server } = await waitingInstallation();
    const { stdout } = await runToEnd("cli/key-create", env, "--import");
    const { value } = JSON.parse(stdout) as { value: string };
    const ids = ["Invoices/2024 #1", "invoices/2024 #1", "7"];
    for (const id of ids) {
      const form = new FormData();
      form.set("operations", JSON.stringify({ query: FILE, variables: { file: null, input: { id } } }));
      form.set("map", JSON.stringify({ 0: ["variables.file"] }));
      form.set("0", new Blob([`content of ${id}`]), "a.txt");
      const headers = { "Apollo-Require-Preflight": "true", "X-API-Key": value };
      const { body } = await server.api.request("POST", "/graphql", form, headers);
      expect(body.data).toEqual({ importFile: { id } });
    }
    await server.end("SIGTERM");
    const folder = join(emptyFolder(), "backup");
    expect(await runToEnd("cli/backup", env, folder)).toMatchObject({ code: 0 });
    const copy = elsewhere(env, await emptyDatabase());
    expect(await runToEnd("cli/restore", copy, folder)).toMatchObject({ code: 0 });
    const { api } = await startServer(copy);
    for (const id of ids) {
      const { url } = await api.get(`/rest/v1/files/${encodeURIComponent(id)}/download`, 200);
      expect(await (await fetch(url)).text()).toBe(`content of ${id}`);
    }
  },
  4 * SERVER_TIMEOUT_MS,
);
