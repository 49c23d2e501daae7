import { createClient, type Client, type SubscribePayload } from "graphql-ws";
import { WebSocket } from "ws";

/** An event as `chatEvents` delivers it. */
export interface Event {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly message: { readonly sequence: number; readonly content: string } | null;
}

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

const EVENTS = `subscription ($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) { id name status message { sequence content } } }`;

/** A graphql-ws client, as a dashboard would use it, that can wait for events. */
export class Subscriber {
  readonly events: Event[] = [];
  /** Code and reason with which the server closes the socket. */
  readonly closed: Promise<SocketClose>;
  private readonly client: Client;
  private readonly watchers = new Set<() => void>();

  constructor(url: string, credential: Record<string, unknown>) {
    let close: (event: SocketClose) => void;
    this.closed = new Promise((resolve) => (close = resolve));
    this.client = createClient({
      url: `${url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: credential,
      retryAttempts: 0,
      on: { closed: (event) => close(event as SocketClose) },
    });
  }

  /** Sends an operation. Resolves at its end: with undefined if it completed, else with its errors. */
  run(query: string, variables: Record<string, unknown>, next: (data: unknown) => void): Promise<unknown> {
    return this.send({ query, variables }, next);
  }

  /** Like `run`, with a complete payload. */
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

  /** Resolves when this many events have arrived. */
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
