import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { Recipe } from "../../platform/database/tables/value-types";
import {
  bodyOf,
  compose,
  digestOf,
  MESSAGE_ROLES,
  type Envelope,
  type EventMessage,
  type Payload,
} from "./compose";
import { takeRecentBody } from "./recent-bodies";

/** An event as it is stored: with a body, or with the recipe and the digest of one. */
export interface StoredEvent extends Envelope {
  readonly id: string;
  readonly chatId: string | null;
  readonly body: string | null;
  readonly recipe: Recipe | null;
  readonly digest: string | null;
}

/** Messages of a chat from and to a sequence, oldest first. */
export interface ReadMessages {
  readonly from: number;
  readonly to: number;
  readonly messages: readonly EventMessage[];
}

/** Holds what was read last of a chat, for the next event of the same chat. */
export interface ChatReader {
  read?: ReadMessages;
}

/** What is needed to compose events: messages by chat, and bodies that have been stored meanwhile, by event. */
interface Parts {
  readonly chats: ReadonlyMap<string, ReadMessages>;
  readonly bodies: ReadonlyMap<string, string>;
}

interface PartRow {
  readonly id: string | null;
  readonly body: string | null;
  readonly chatId: string | null;
  readonly messages: readonly MessageParts[] | null;
}

type MessageParts = readonly [sequence: number, role: string, content: string | null];

/** Events of a chat that a delivery reads ahead: further deliveries of the same queue follow. */
const READ_AHEAD = 16;
const KEPT_BATCH_SIZE = 100;

/** By one statement, so that a call's messages belong to its events: a transcript may change both. */
const PARTS = statement<PartRow>(({ db }) =>
  db.raw(`
  select null as id, null as body, asked."chatId" as chat_id, (
    select json_agg(json_build_array(m.sequence, m.role, m.content) order by m.sequence) from messages m
    where m.organization_id = $1 and m.chat_id = asked."chatId" and m.sequence between asked."from" and asked."to"
      and m.role = any($4::text[])
  ) as messages
  from json_to_recordset($2::json) as asked("chatId" text, "from" integer, "to" integer)
  union all
  select e.id, e.body, null, null from events e
  where e.organization_id = $1 and e.id = any($3::text[]) and e.body is not null`),
);

const STORE = statement(({ db }) =>
  db.raw(`update events set body = $3 where events.organization_id = $1 and id = $2 and body is null`),
);

/** Locked in the order in which the sequencer locks them. */
const COMPOSED_FROM = statement<ComposedEvent & { readonly chatSequence: number }>(({ db }) =>
  db.raw(`
  select id, name, type, assistant_id, chat_id, body, recipe, digest, chat_sequence from events
  where events.organization_id = $1 and chat_id = $2 and chat_sequence > $4 and body is null
    and (recipe ->> 'last')::integer >= $3::integer
  order by chat_sequence limit ${KEPT_BATCH_SIZE} for update`),
);

const STORE_ALL = statement(({ db }) =>
  db.raw(`
  update events set body = kept.body from unnest($2::text[], $3::text[]) as kept (id, body)
  where events.organization_id = $1 and events.id = kept.id`),
);

/** The payloads of events, read by at most one statement. Messages that are gone are missing in them. */
export async function payloadsOf(scope: Scope, events: readonly StoredEvent[]): Promise<Payload[]> {
  const parts = await readParts(scope, events.filter(isComposed));
  return events.map((event) => {
    const body = event.body ?? parts.bodies.get(event.id);
    if (body !== undefined) return JSON.parse(body) as Payload;
    return isComposed(event) ? compose(event, event.recipe, messagesIn(parts, event)) : {};
  });
}

/** Reads and stores the bodies that deliveries send. */
export class EventBodies {
  private readonly asked = new Map<string, ComposedEvent>();

  constructor(private readonly scope: Scope) {}

  /**
   * The body of an event, with the bytes that it was recorded with. Calls in the same tick share one statement.
   * @param mayBeOld whether what was read or recorded before will do
   * @returns undefined if it can no longer be composed
   */
  async of(event: StoredEvent, reader: ChatReader, mayBeOld = true): Promise<string | undefined> {
    if (!isComposed(event)) return event.body ?? undefined;
    const known = takeRecentBody(event.id) ?? fitting(event, reader.read);
    if (mayBeOld && known !== undefined) return known;
    this.asked.set(event.id, event);
    const loader = this.scope.loader<{ body?: string; read?: ReadMessages }>("event bodies", async (ids) => {
      const events = ids.map((id) => this.asked.get(id)!);
      const { bodies, chats } = await readParts(this.scope, events, READ_AHEAD);
      return events.map(({ id, chatId }) => ({ body: bodies.get(id)!, read: chats.get(chatId)! }));
    });
    const { body, read } = await loader.load(event.id);
    reader.read = read;
    return body ?? fitting(event, read);
  }

  /** Stores a body, so that every further attempt sends the same bytes whatever happens to the messages. */
  async store(id: string, body: string): Promise<void> {
    await this.scope.write(STORE, [id, body]);
  }

  /**
   * Stores the bodies of a chat's events that contain messages from a sequence on, before these messages change. Runs
   * in a transaction that has locked the chat.
   */
  async keepFrom(chatId: string, sequence: number): Promise<void> {
    for (let last: number | undefined = 0; last !== undefined;) {
      const events: readonly (ComposedEvent & { chatSequence: number })[] = await this.scope.write(
        COMPOSED_FROM,
        [chatId, sequence, last],
      );
      const { chats } = await readParts(this.scope, events);
      const bodies = events.map((event) => fitting(event, chats.get(chatId)));
      const kept = events.filter((_, index) => bodies[index] !== undefined).map(({ id }) => id);
      await this.scope.write(STORE_ALL, [kept, bodies.filter((body) => body !== undefined)]);
      last = events.at(-1)?.chatSequence;
    }
  }
}

type ComposedEvent = StoredEvent & { readonly chatId: string; readonly recipe: Recipe; readonly body: null };

const isComposed = (event: StoredEvent): event is ComposedEvent =>
  event.body === null && event.recipe !== null;

/** The body composed from messages, if these are the ones that it was recorded with. */
function fitting(event: ComposedEvent, read: ReadMessages | undefined): string | undefined {
  const { first = 1, last } = event.recipe;
  if (!read || read.from > first || read.to < last) return undefined;
  const body = bodyOf(compose(event, event.recipe, read.messages));
  return digestOf(body) === event.digest ? body : undefined;
}

const messagesIn = ({ chats }: Parts, { chatId }: ComposedEvent) => chats.get(chatId)?.messages ?? [];

/** @param ahead messages to read of each chat beyond those of the events */
async function readParts(scope: Scope, events: readonly ComposedEvent[], ahead = 0): Promise<Parts> {
  const bodies = new Map<string, string>();
  const chats = new Map<string, ReadMessages>();
  if (events.length === 0) return { bodies, chats };
  const ranges = rangesOf(events);
  const asked = [...ranges].map(([chatId, { from, to }]) => ({ chatId, from, to: to + ahead }));
  const ids = events.map(({ id }) => id);
  for (const { id, body, chatId, messages } of await scope.read(PARTS, [
    JSON.stringify(asked),
    ids,
    MESSAGE_ROLES,
  ])) {
    if (id !== null) bodies.set(id, body!);
    else chats.set(chatId!, readMessages(ranges.get(chatId!)!, messages ?? []));
  }
  return { bodies, chats };
}

/** The sequences that events contain, by chat. */
function rangesOf(events: readonly ComposedEvent[]): Map<string, { from: number; to: number }> {
  const ranges = new Map<string, { from: number; to: number }>();
  for (const { chatId, recipe } of events) {
    const { first = 1, last } = recipe;
    const { from, to } = ranges.get(chatId) ?? { from: first, to: last };
    ranges.set(chatId, { from: Math.min(from, first), to: Math.max(to, last) });
  }
  return ranges;
}

function readMessages(
  { from, to }: { readonly from: number; readonly to: number },
  rows: readonly MessageParts[],
): ReadMessages {
  const messages = rows.map(([sequence, role, content]) => ({ sequence, role, content }));
  return { from, to: Math.max(to, messages.at(-1)?.sequence ?? 0), messages };
}
