import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { PAGES, snippetsOf } from "../support/snippets";
import { WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterAll(() => site.stop());
afterEach(() => site.clear());

const snippets = PAGES.flatMap(snippetsOf)
  .filter(({ language }) => language === "html")
  .map(({ page, line, code }) => [`${page}:${line}`, code] as const);

test.each(snippets)("the HTML at %s works on a page, with the widget open", async (_where, code) => {
  const assistantId = await site.assistant();
  const { identitySecret } = (await app.api.gql("mutation { identitySecret }")) as { identitySecret: string };
  const hasScript = code.includes("companion-widget-script");
  const html = code
    .replaceAll("http://127.0.0.1:4000", app.url)
    .replaceAll("ASSISTANT_ID", assistantId)
    .replaceAll("PUBLIC_KEY", app.publicKey)
    .replaceAll("SIGNATURE", createHmac("sha256", identitySecret).update("user-1").digest("hex"));
  const shown = await site.visit({
    html,
    attributes: { "assistant-id": assistantId },
    place: hasScript ? "none" : "body",
  });
  if (code.includes("<button")) {
    await shown.launcher.waitFor();
    await shown.page.locator("main button").click();
  } else await shown.open();
  await shown.box.waitFor();
  expect(shown.complaints).toEqual([]);
});
