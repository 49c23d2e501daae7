import { once } from "node:events";
import { connect as dial, createServer, type AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { connect } from "../../src/platform/database/connections/connect";
import { publicError } from "../../src/platform/errors";
import { afterTest, SERVER_TIMEOUT_MS } from "../support/server";

test(
  "a database connection that stops answering is abandoned, and the next statement uses a new one",
  async () => {
    const postgres = new URL(process.env.TEST_POSTGRES!);
    let isSilent = false;
    const between = createServer((client) => {
      const server = dial(Number(postgres.port), postgres.hostname);
      client.pipe(server).on("data", (bytes) => isSilent || client.write(bytes));
      for (const [one, other] of [[client, server] as const, [server, client] as const])
        one.on("error", () => undefined).on("close", () => other.destroy());
    }).listen(0, "127.0.0.1");
    await once(between, "listening");
    afterTest(() => between.close());
    const url = new URL(postgres);
    url.hostname = "127.0.0.1";
    url.port = String((between.address() as AddressInfo).port);
    const db = connect(url.href, { pool: 1 });
    afterTest(() => db.destroy());

    await db.raw("select 1");
    isSilent = true;
    const error: unknown = await db.raw("select 2").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(publicError(error as Error)).toMatchObject({ code: "UNAVAILABLE" });
    isSilent = false;
    expect((await db.raw("select 3 as three")).rows).toEqual([{ three: 3 }]);
  },
  2 * SERVER_TIMEOUT_MS,
);
