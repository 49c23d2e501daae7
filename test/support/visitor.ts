import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { Api } from "./api";

const START = `mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) {
  token expiresAt visitorToken historyAvailable
  widget { assistantId name mode theme greeting textEnabled voiceEnabled engineVoice } } }`;
const CHAT = "id channel status label startedAt endedAt endedReason";
const MESSAGE = "id role content createdAt quickReplies failed local clientId";

export interface Session {
  readonly token: string;
  readonly expiresAt: string;
  readonly visitorToken: string;
  readonly historyAvailable: boolean;
  readonly widget: Readonly<Record<string, unknown>>;
}
export interface WidgetMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly quickReplies: readonly string[];
  readonly failed: boolean;
  readonly local: boolean;
  readonly clientId: string | null;
}
export interface WidgetChat {
  readonly id: string;
  readonly channel: string;
  readonly status: string;
  readonly label: string;
  readonly endedReason: string | null;
  readonly messages: readonly WidgetMessage[];
}
export interface WidgetEvent {
  readonly name: string;
  readonly status: string;
  readonly text: string | null;
  readonly activity: string | null;
  readonly message: WidgetMessage | null;
}

/** Starts a session with a PUBLIC key. */
export async function startSession(url: string, publicKey: string, input: object): Promise<Session> {
  const { startWidgetSession } = await new Api(url, { "X-API-Key": publicKey }).gql(START, { input });
  return startWidgetSession as Session;
}

/** The error of a session that is refused. */
export const sessionRefused = (api: Api, input: object) => api.gqlError(START, { input });

/** A visitor of a web page, as the widget is. */
export class VisitorClient {
  readonly api: Api;
  private client: Client | undefined;

  constructor(
    url: string,
    readonly token: string,
  ) {
    this.api = new Api(url, { Authorization: `Bearer ${token}` });
  }

  static async of(url: string, publicKey: string, input: object): Promise<VisitorClient> {
    return new VisitorClient(url, (await startSession(url, publicKey, input)).token);
  }

  async start(input: object = {}): Promise<WidgetChat> {
    const document = `mutation ($input: WidgetChatInput!) { startWidgetChat(input: $input) { ${CHAT} messages { ${MESSAGE} } } }`;
    return (await this.api.gql(document, { input })).startWidgetChat as WidgetChat;
  }

  async chat(id: string, after?: string): Promise<WidgetChat> {
    const document = `query ($id: ID!, $after: ID) { widgetChat(id: $id) { ${CHAT} messages(after: $after) { ${MESSAGE} } } }`;
    return (await this.api.gql(document, { id, after })).widgetChat as WidgetChat;
  }

  async chats(): Promise<WidgetChat[]> {
    return (await this.api.gql(`{ widgetChats { ${CHAT} messages { ${MESSAGE} } } }`))
      .widgetChats as WidgetChat[];
  }

  async post(chatId: string, content: string, clientId?: string): Promise<WidgetMessage> {
    const document = `mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { ${MESSAGE} } }`;
    const input = { chatId, content, ...(clientId !== undefined && { clientId }) };
    return (await this.api.gql(document, { input })).postWidgetMessage as WidgetMessage;
  }

  async update(input: object): Promise<WidgetChat> {
    const document = `mutation ($input: WidgetChatUpdate!) { updateWidgetChat(input: $input) { ${CHAT} } }`;
    return (await this.api.gql(document, { input })).updateWidgetChat as WidgetChat;
  }

  async end(id: string): Promise<WidgetChat> {
    const document = `mutation ($id: ID!) { endWidgetChat(id: $id) { ${CHAT} } }`;
    return (await this.api.gql(document, { id })).endWidgetChat as WidgetChat;
  }

  /** The events of a chat until `enough`, or without it until its end. */
  async events(
    chatId: string,
    after: string,
    enough: (events: readonly WidgetEvent[]) => boolean = () => false,
  ): Promise<WidgetEvent[]> {
    this.client ??= createClient({
      url: `${this.api.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { ...this.api.headers },
      retryAttempts: 0,
    });
    const query = `subscription ($chatId: ID!, $after: ID) { widgetChatEvents(chatId: $chatId, after: $after) {
      name status text activity message { ${MESSAGE} } } }`;
    const events: WidgetEvent[] = [];
    for await (const { data, errors } of this.client.iterate({ query, variables: { chatId, after } })) {
      if (errors) throw Object.assign(new Error(errors[0]!.message), errors[0]);
      events.push((data as { widgetChatEvents: WidgetEvent }).widgetChatEvents);
      if (enough(events)) break;
    }
    return events;
  }

  async close(): Promise<void> {
    await this.client?.dispose();
  }
}
