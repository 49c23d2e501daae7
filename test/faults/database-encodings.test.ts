import { expect, test } from "@jest/globals";
import { databaseProblem, searchProblem } from "../../src/platform/database/connections/suitable";
import { migrate } from "../../src/platform/database/upgrades/migrate";
import { statement } from "../support/database";
import { afterTest, emptyFolder, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";

/** Creates a database with an encoding and a locale. @returns its URL */
async function databaseIn(encoding: string, locale: string): Promise<string> {
  const postgres = process.env.TEST_POSTGRES!;
  const name = `encoding_${Math.random().toString(36).slice(2)}`;
  const provider = locale === "C" ? "locale_provider libc" : "";
  await statement(
    postgres,
    `create database ${name} encoding '${encoding}' ${provider} locale '${locale}' template template0`,
  );
  afterTest(() => statement(postgres, `drop database ${name} with (force)`));
  return Object.assign(new URL(postgres), { pathname: `/${name}` }).href;
}

const OTHER_ENCODINGS = ["SQL_ASCII", "LATIN1", "LATIN2", "WIN1251", "EUC_JP"];

test.each(OTHER_ENCODINGS)(
  "a new database in %s is refused in one sentence with the remedy",
  async (name) => {
    const url = await databaseIn(name, "C");
    const message = `The database (DATABASE_URL) has the encoding ${name}, which cannot store all languages. Create one in UTF8: create database … encoding 'UTF8' locale 'C.UTF-8' template template0.`;
    expect((await databaseProblem(url))?.message).toBe(message);
    await expect(migrate(url, () => Promise.resolve())).rejects.toThrow(message);
  },
);

test("a database of an older version in another encoding is accepted with a warning", async () => {
  const url = await databaseIn("SQL_ASCII", "C");
  await statement(url, "create table knex_migrations (name text)");
  expect(await databaseProblem(url)).toBeUndefined();
  expect(await searchProblem(url)).toMatch(/has the encoding SQL_ASCII: searches .*npm run move/);
});

test("a database created as recommended searches all letters", async () => {
  const url = await databaseIn("UTF8", "C.UTF-8");
  expect(await databaseProblem(url)).toBeUndefined();
  expect(await searchProblem(url)).toBeUndefined();
});

test(
  "a server on a database whose locale knows only ASCII warns in one line",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await databaseIn("UTF8", "C") };
    const server = await startServer(env);
    expect(server.stderr()).toMatch(
      /^Warning: The database \(DATABASE_URL\) has a locale whose lc_ctype knows only ASCII: searches .*npm run move`\.\n$/,
    );
    expect(server.stdout()).toMatch(/Data +PostgreSQL at \S+, no TLS, row-level security off/);
  },
  SERVER_TIMEOUT_MS,
);
