import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { OperationTypeNode, parse, Kind, type OperationDefinitionNode } from "graphql";
import type { Browser, Page } from "playwright-core";
import { explorerTabs } from "../../src/web/explorer/tabs";
import { useApp } from "../support/app";
import { launchBrowser } from "../support/browser";

const app = useApp({ WORKER: "on" });
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  page = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage();
  await page.goto(`${app.url}/graphql`);
  await page.getByLabel("API key").fill(app.secretKey);
  await page.getByRole("button", { name: "Use key" }).click();
});
afterAll(() => browser?.close());

const operationsOf = (query: string) =>
  parse(query).definitions.filter(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
const play = () => page.getByRole("button", { name: /^Execute query/ });
const response = () => page.locator(".graphiql-response");

/** Runs one operation of the open tab. With several, a menu opens once the playground has read the document. */
async function run(name: string, isAlone: boolean): Promise<void> {
  if (isAlone) return page.locator(".graphiql-execute-button:not([aria-haspopup])").click();
  const chosen = page.getByRole("menuitem", { name, exact: true });
  await page.locator(".graphiql-execute-button[aria-haspopup=menu]").waitFor();
  await play().click();
  await chosen.click();
}

const tabs = () => page.getByRole("list", { name: "Select active operation" });

/** The next answer to an operation. */
async function nextAnswer(): Promise<{ errors?: unknown; data?: Record<string, unknown> }> {
  const answer = await page.waitForResponse(
    (one) =>
      one.url().endsWith("/graphql") && !/IntrospectionQuery|CheckKey/.test(one.request().postData() ?? ""),
  );
  return (await answer.json()) as { errors?: unknown; data?: Record<string, unknown> };
}

describe("the playground on a phone, on a fresh installation", () => {
  test.each(
    explorerTabs.map(({ query }, index) => [operationsOf(query)[0]!.name!.value, query, index] as const),
  )("runs the tab %s with the ids of earlier tabs", async (title, query, index) => {
    const tab = tabs().getByRole("listitem").nth(index).getByRole("button", { name: title });
    await tab.click();
    await tab.and(page.locator("[aria-current]")).waitFor();
    const operations = operationsOf(query);
    for (const { name, operation } of operations) {
      if (operation === OperationTypeNode.SUBSCRIPTION) {
        // Registered first, because the frame may be sent before run() returns.
        const subscribed = new Promise<string>((resolve) => {
          page.once("websocket", (socket) =>
            socket.on("framesent", ({ payload }) => {
              if (String(payload).includes('"type":"subscribe"')) resolve(String(payload));
            }),
          );
        });
        await run(name!.value, operations.length === 1);
        const payload = await subscribed;
        expect(payload).not.toContain("CHAT_ID");
        await play()
          .or(page.getByRole("button", { name: /^Stop query/ }))
          .click();
        continue;
      }
      const answer = nextAnswer();
      await run(name!.value, operations.length === 1);
      const { errors, data } = await answer;
      expect(errors).toBeUndefined();
      if (name!.value === "PostMessage")
        expect((data!.postMessage as { reply: unknown }).reply).toMatchObject({
          role: "ASSISTANT",
          content: expect.stringContaining("17:00"),
        });
      await response().getByText(Object.keys(data!)[0]!).first().waitFor();
    }
    expect(await tab.innerText()).toBe(title); // whichever operation was run last
  });

  test("shows tabs, editors, the play button and the response inside of the screen", async () => {
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(360);
    for (const name of ["REST API", "Documentation"])
      expect(await page.getByRole("link", { name, exact: true }).isVisible()).toBe(true);
    for (const part of [play(), page.locator(".graphiql-query-editor"), response(), tabs()]) {
      const box = (await part.boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(360);
      expect(box.y + box.height).toBeLessThanOrEqual(740);
      expect(box.height).toBeGreaterThan(30);
    }
  });
});
