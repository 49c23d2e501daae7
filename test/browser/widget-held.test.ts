import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp } from "../support/app";
import { createDatabase, type TestDatabase } from "../support/database";
import { WidgetSite, type WidgetPage } from "../support/widget-page";

let database: TestDatabase;
let app: Awaited<ReturnType<typeof startApp>>;
let site: WidgetSite;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(
    "insert into holds (id, reason, note, finished_at) values ('hold', 'RESTORED', 'a backup', now())",
  );
  app = await startApp(database, { WORKER: "on" });
  site = new WidgetSite(app);
  await site.start();
});
afterEach(() => site.clear());
afterAll(async () => {
  await site?.stop();
  await app?.stop();
  await database?.drop();
});

const open = async (locale: string): Promise<WidgetPage> => {
  const widget = await site.visit({
    attributes: { "assistant-id": await site.assistant(), locale },
    context: { locale },
  });
  await widget.open();
  return widget;
};

/** Releases the hold, as the command does. */
const release = () =>
  database.query(
    "with released as (update holds set released_at = now()) select pg_notify('parley_release', '{}')",
  );

describe("while the installation is held", () => {
  test.each([
    ["de", "Zurzeit kann niemand antworten."],
    ["ja", "現在、応答できる者がおりません。"],
  ])(
    "tells a visitor in the language %s that nobody can answer, and does not pretend to think",
    async (locale, text) => {
      const widget = await open(locale);
      await widget.frame.getByText(text).waitFor();
      await widget.say("Hallo?");
      await widget.frame.locator(".own.stored").waitFor();
      expect(await widget.frame.getByText(text).count()).toBe(1);
      expect(await widget.frame.locator(".dots").count()).toBe(0);
    },
  );

  // The last test, because it releases the hold.
  test("answers as soon as the hold is released, and takes the notice away", async () => {
    const widget = await open("en");
    const notice = widget.frame.getByText("Nobody can answer at the moment.");
    await notice.waitFor();
    await widget.say("Hello?");
    await release();
    await widget.frame.locator(".theirs.stored").nth(1).waitFor(); // after the greeting
    await notice.waitFor({ state: "hidden" });
    expect(await widget.frame.locator(".dots").count()).toBe(0);
  });
});
