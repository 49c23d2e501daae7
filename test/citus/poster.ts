import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "@jest/globals";
import type { Api } from "../support/api";
import { newChat, said } from "../support/factories";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import type { Organization } from "./world";

/** Pause between two messages of a poster, in ms. */
const PAUSE_MS = 20;
/** Messages that a chat shows at once. */
const PAGE = 500;
const MESSAGES = `query ($id: ID!, $before: ID) { chat(id: $id) { messages(last: ${PAGE}, before: $before) { id content } } }`;

/** Posts messages one after another until it is stopped. */
export class Poster {
  readonly accepted: string[] = [];
  /** Statuses of refusals; 0 for a lost connection. */
  readonly refused: number[] = [];
  private stopped = false;
  private readonly running: Promise<void>;

  constructor(
    private readonly organization: Organization,
    private readonly chatId: string,
    api = organization.api,
  ) {
    this.running = this.run(api);
    afterTest(() => this.stop());
  }

  /** Resolves when more messages are accepted. */
  async more(count = 5): Promise<void> {
    const before = this.accepted.length;
    await until(() => this.accepted.length >= before + count);
  }

  /** Expects each accepted message in the chat, and an event with it at the destination. */
  async end(): Promise<void> {
    await this.stop();
    const { receiver } = this.organization;
    const stored = await this.stored();
    expect(stored).toEqual(expect.arrayContaining(this.accepted));
    expect(new Set(stored).size).toBe(stored.length);
    for (const content of stored) await receiver.until(1, ({ text }) => text.includes(`"${content}"`));
  }

  /** Contents of all messages of the chat. */
  private async stored(): Promise<string[]> {
    const found: { id: string; content: string }[] = [];
    for (let isMore = true; isMore;) {
      const { chat } = await this.organization.api.gql(MESSAGES, { id: this.chatId, before: found[0]?.id });
      const page = chat.messages as typeof found;
      found.unshift(...page);
      isMore = page.length === PAGE;
    }
    return found.map(({ content }) => content);
  }

  private async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(api: Api): Promise<void> {
    for (let number = 1; !this.stopped; number++) {
      const content = `Number ${number} in ${this.chatId}`;
      const body = said(this.chatId, content);
      const status = await api.request("POST", "/rest/v1/ai-chats/messages", body).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 201) this.accepted.push(content);
      else this.refused.push(status);
      await sleep(PAUSE_MS);
    }
  }
}

/** Starts to post messages in a new chat. */
export const post = async (organization: Organization, api?: Api) =>
  new Poster(organization, await newChat(organization.api, organization.assistantId), api);
