import { inspect } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Api } from "../support/api";
import { newAssistant, newChat, said } from "../support/factories";

const DASHBOARD = "{ assistants(take: 5) { data { id name logs(take: 3) { id label } } } }";

const PAGE = "query ($after: String) { events(first: 1, after: $after) { pageInfo { endCursor } } }";

/** Asks for one page after another, whichever server answers, and then begins again. */
function turningPages(): Send {
  let after: string | undefined;
  return async (api) => {
    const answer = await api.graphql(PAGE, { after });
    after = answer.body?.data?.events?.pageInfo.endCursor ?? undefined;
    return answer;
  };
}

/** A request whose answer has no other status than 200 or 201. */
type Send = (api: Api) => Promise<Answer>;

/** Programs that send requests of both interfaces, one after another each, and repeat only a 503 with Retry-After. */
export class Clients {
  /** Answers that a client may not get, and broken connections. */
  readonly failures: string[] = [];
  /** Requests answered, and those answered with 503 and Retry-After. */
  answered = 0;
  refused = 0;
  /** The longest time for an answer, in ms, by kind of request, since it was last taken. */
  private longest: Record<string, number> = {};
  private stopped = false;
  private readonly loops: Promise<void>[] = [];

  constructor(
    private readonly api: Api,
    private readonly pauseMs: number,
  ) {}

  async start(): Promise<void> {
    const id = await newAssistant(this.api);
    const chatId = await newChat(this.api, id);
    const rest = (method: string, path: string, body?: object): Send => {
      return (api) => api.request(method, path, body);
    };
    let number = 0;
    const kinds: Readonly<Record<string, Send>> = {
      "read an assistant": rest("GET", `/rest/v1/assistants/${id}`),
      "change an assistant": rest("PATCH", `/rest/v1/assistants/${id}`, { description: "changed" }),
      "read a page of logs": rest("GET", `/rest/v1/assistants/${id}/logs?take=20`),
      "post a message": (api) =>
        api.request("POST", "/rest/v1/ai-chats/messages", said(chatId, `No. ${number++}`)),
      "turn a page": turningPages(),
      "read a dashboard": (api) => api.graphql(DASHBOARD),
      "start a chat": (api) =>
        api.graphql("mutation ($id: ID!) { startChat(input: { assistantId: $id }) { id } }", { id }),
    };
    for (const [kind, send] of Object.entries(kinds)) this.loops.push(this.loop(kind, send));
  }

  /** The longest times for an answer since the last call. */
  takeLongest(): Record<string, number> {
    const { longest } = this;
    this.longest = {};
    return longest;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.loops);
  }

  private async loop(kind: string, send: Send): Promise<void> {
    while (!this.stopped) {
      const began = performance.now();
      await this.once(kind, send).catch((error: unknown) => {
        this.failures.push(`${kind}: ${inspect(error)}`);
      });
      this.longest[kind] = Math.max(this.longest[kind] ?? 0, performance.now() - began);
      await sleep(this.pauseMs);
    }
  }

  private async once(kind: string, send: Send): Promise<void> {
    const { status, headers, text, body } = await send(this.api);
    const after = headers.get("Retry-After");
    if (status === 503 && after !== null) {
      this.refused++;
      await sleep(Number(after) * 1_000);
      return this.once(kind, send);
    }
    const error = (body as { errors?: unknown } | undefined)?.errors;
    if (![200, 201].includes(status) || error !== undefined) this.failures.push(`${kind}: ${status} ${text}`);
    this.answered++;
  }
}
