import { createClient, type Client, type SubscribePayload } from "graphql-ws";
import { WebSocket } from "ws";

/** An event as `chatEvents` delivers it. */
export interface Event {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly message: { readonly sequence: number; readonly content: string } | null;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

const EVENTS = `subscription ($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) { id name status message { sequence content } } }`;

/** A graphql-ws client as a dashboard would use it: what it has received can be waited for. */
export class Subscriber {
  readonly events: Event[] = [];
  /** What the server says when it closes the socket. */
  readonly closed: Promise<Closed>;
  private readonly client: Client;
  private readonly watchers = new Set<() => void>();

  constructor(url: string, credential: Record<string, unknown>) {
    let close: (event: Closed) => void;
    this.closed = new Promise((resolve) => (close = resolve));
    this.client = createClient({
      url: `${url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: credential,
      retryAttempts: 0,
      on: { closed: (event) => close(event as Closed) },
    });
  }

  /** Sends an operation; resolves with its end: undefined when it completed, else the errors that it failed with. */
  run(query: string, variables: Record<string, unknown>, next: (data: unknown) => void): Promise<unknown> {
    return this.send({ query, variables }, next);
  }

  /** The same for a whole payload. */
  send(payload: SubscribePayload, next: (data: unknown) => void): Promise<unknown> {
    return new Promise((resolve) => {
      this.client.subscribe(payload, {
        next: ({ data, errors }) => (errors ? resolve(errors) : next(data)),
        error: resolve,
        complete: () => resolve(undefined),
      });
    });
  }

  /** Follows a chat. */
  watch(chatId: string, after?: string): Promise<unknown> {
    return this.run(EVENTS, { chatId, ...(after !== undefined && { after }) }, (data) => {
      this.events.push((data as { chatEvents: Event }).chatEvents);
      this.watchers.forEach((look) => look());
    });
  }

  /** Resolves when this many events have come. */
  async received(count: number): Promise<Event[]> {
    await new Promise<void>((resolve) => {
      const look = () => void (this.events.length >= count && resolve());
      this.watchers.add(look);
      look();
    });
    return this.events;
  }

  async close(): Promise<void> {
    await this.client.dispose();
  }
}
