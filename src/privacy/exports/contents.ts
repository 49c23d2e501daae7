import { connectedNumbers } from "../../assistants/telephony/connection-row";
import { Readable } from "node:stream";
import { indexable } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { Person, Reach } from "../people/person";
import { filesNaming, textsFrom } from "../people/by-index";
import { Files } from "../../assistants/files/files";
import { payloadsOf } from "../../events/events/bodies";
import type { Entry } from "./archive";
import { fetchRecording } from "./recording";
import { versionsBy } from "./versions";

/** Counts of an archive's contents, by kind. */
export interface ExportCounts {
  chats: number;
  messages: number;
  events: number;
  files: number;
  recordings: number;
  /** Files and recordings whose content was not available. */
  absent: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Rows read per statement; a single row may have a megabyte. */
const BATCH_SIZE = 20;
/** Internal columns, which contain no data about a person. */
const INTERNAL_COLUMNS = new Set(
  `organizationId transaction statusEventId statusPlaces eventCount answeredSequence answersUpTo counted claimedUntil line
  nextAttemptAt chatSequence recipe digest quietFrom`.split(/\s+/),
);

/** A row without secrets and internal columns. */
const publicRow = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).filter(([name]) => !INTERNAL_COLUMNS.has(name) && !name.startsWith("sealed")),
  );

const lineOf = (row: object): string => `${JSON.stringify(row)}\n`;

/** Reads all data about a person, as the files of an archive. */
export class Contents {
  readonly counts: ExportCounts = { chats: 0, messages: 0, events: 0, files: 0, recordings: 0, absent: 0 };

  constructor(
    private readonly scope: Scope,
    private readonly person: Person,
    private readonly reach: Reach,
  ) {}

  async *entries(): AsyncGenerator<Entry> {
    const { scope } = this;
    const { chatIds } = this.reach;
    yield this.list("people", this.people());
    yield this.list("chats", rowsOf(scope, "chats", "id", chatIds), () => this.counts.chats++);
    yield this.list("messages", this.messages(), () => this.counts.messages++);
    yield this.list("calls", rowsOf(scope, "calls", "chatId", chatIds));
    yield this.list("texts", this.texts());
    yield this.list("events", this.events(), () => this.counts.events++);
    yield this.list("deliveries", this.deliveries());
    yield this.list("versions", versionsBy(this.scope, this.reach.names));
    yield* this.files();
    yield* this.recordings();
    yield { path: "manifest.json", content: Readable.from([JSON.stringify(this.manifest(), null, 2)]) };
  }

  private list(name: string, rows: AsyncIterable<Row>, count: () => void = () => undefined): Entry {
    async function* content() {
      for await (const row of rows) {
        count();
        yield lineOf(publicRow(row));
      }
    }
    return { path: `${name}.ndjson`, content: content() };
  }

  /** The assistants' memory of the person, and the contact of a phone number. */
  private async *people(): AsyncGenerator<Row> {
    const { scope, person, reach } = this;
    yield* await scope
      .table("end_users")
      .whereIn("uniqueId", reach.names.map(indexable))
      .orderBy("createdAt");
    if (person.kind === "phoneNumber")
      yield* await scope.table("sms_contacts").where({ phoneNumber: person.value });
  }

  private async *messages(): AsyncGenerator<Row> {
    for (const chatId of this.reach.chatIds)
      for (let last = -1; ;) {
        const rows = await this.scope
          .table("messages")
          .where({ chatId })
          .where("sequence", ">", last)
          .orderBy("sequence")
          .limit(BATCH_SIZE);
        yield* rows;
        if (rows.length < BATCH_SIZE) break;
        last = rows.at(-1)!.sequence;
      }
  }

  /** Sent texts, and those that a connected number has received: a job removes those of others. */
  private async *texts(): AsyncGenerator<Row> {
    const { scope, person, reach } = this;
    const received = () => scope.table("sms_received").whereIn("connectionId", connectedNumbers(scope));
    const sent = () => scope.table("sms_sent");
    for (const chatId of reach.chatIds)
      for (const texts of [received(), sent()]) yield* await texts.where({ chatId }).orderBy("createdAt");
    if (person.kind !== "phoneNumber") return;
    const { value: phoneNumber } = person;
    const sids = await textsFrom(scope, phoneNumber);
    const from = received().whereRaw("message_sid = any(?::text[])", [sids]);
    const notices = sent().where({ phoneNumber });
    for (const rows of [from, notices]) yield* await rows.whereNull("chatId").orderBy("createdAt");
  }

  private async *events(): AsyncGenerator<Row> {
    for await (const ids of this.eventIds()) yield* await eventRows(this.scope, ids);
  }

  private async *deliveries(): AsyncGenerator<Row> {
    for await (const ids of this.eventIds())
      yield* await this.scope.table("deliveries").whereIn("eventId", ids).orderBy("createdAt");
  }

  /** Ids of events in the order of each chat, in batches. */
  private async *eventIds(): AsyncGenerator<string[]> {
    for (const chatId of this.reach.chatIds) {
      const events = this.scope.table("events").select("id").where({ chatId });
      const rows = await events.orderBy(["chatSequence", "createdAt", "id"]);
      for (let at = 0; at < rows.length; at += BATCH_SIZE)
        yield rows.slice(at, at + BATCH_SIZE).map(({ id }) => id);
    }
  }

  private async *files(): AsyncGenerator<Entry> {
    const list: Row[] = [];
    const ids = await filesNaming(this.scope, this.reach);
    const found = await this.scope.table("files").whereRaw("id = any(?::text[])", [ids]).orderBy("createdAt");
    for (const file of found) {
      const about = { ...publicRow({ ...file }), size: Number(file.size) };
      const content = await this.contentOf(file);
      if (content === undefined) {
        this.counts.absent++;
        list.push({ ...about, problem: "The content is missing from the file storage." });
        continue;
      }
      this.counts.files++;
      const path = `files/${file.id}/${file.name}`;
      list.push({ ...about, path });
      yield { path, content };
    }
    yield { path: "files.ndjson", content: Readable.from(list.map(lineOf)) };
  }

  /** The content of a file; undefined if it is missing, or if the file was deleted in the meantime. */
  private async contentOf({ id }: { readonly id: string }): Promise<Readable | undefined> {
    try {
      return (await this.scope.of(Files).content(id)).content;
    } catch (error) {
      const code = error instanceof DomainError ? error.code : undefined;
      if (code === "FILE_NOT_FOUND" || code === "FILE_CONTENT_MISSING") return undefined;
      throw error;
    }
  }

  private async *recordings(): AsyncGenerator<Entry> {
    const list: Row[] = [];
    const { scope, counts } = this;
    for (const chatId of this.reach.chatIds) {
      const [chat] = await scope.table("chats").select("recordingUrl").where({ id: chatId });
      if (chat?.recordingUrl == null) continue;
      const recording: { chatId: string; url: string; path?: string; problem?: string } = {
        chatId,
        url: chat.recordingUrl,
      };
      list.push(recording);
      try {
        const { extension, content } = await fetchRecording(scope, recording.url);
        recording.path = `recordings/${chatId}${extension}`;
        yield {
          path: recording.path,
          content: untilError(content, (problem) => (recording.problem = problem)),
        };
      } catch (error) {
        recording.problem = (error as Error).message;
      }
      if (recording.problem === undefined) counts.recordings++;
      else counts.absent++;
    }
    yield { path: "recordings.ndjson", content: Readable.from(list.map(lineOf)) };
  }

  private manifest(): object {
    return { format: 1, subject: this.person.kind, identifier: this.person.value, counts: this.counts };
  }
}

/** Rows of a table by their ids, in the order of the ids. */
async function* rowsOf(
  scope: Scope,
  table: "chats" | "calls",
  key: string,
  ids: readonly string[],
): AsyncGenerator<Row> {
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const some = ids.slice(at, at + BATCH_SIZE);
    const rows: Row[] = await scope.table(table).whereIn(key, some);
    for (const id of some) yield* rows.filter((row) => row[key] === id);
  }
}

/** Events in the order of their ids, with the payload that destinations receive as body. */
async function eventRows(scope: Scope, ids: readonly string[]): Promise<Row[]> {
  const rows = await scope.table("events").whereIn("id", ids);
  const payloads = await payloadsOf(scope, rows);
  const events = rows.map((row, index) => ({ ...row, body: payloads[index] }));
  return ids.flatMap((id) => events.find((row) => row.id === id) ?? []);
}

/** Passes a recording on up to its end or the first error, which is reported. */
async function* untilError(content: AsyncIterable<Uint8Array>, failed: (problem: string) => void) {
  try {
    yield* content;
  } catch (error) {
    failed(`The download was interrupted: ${(error as Error).message}`);
  }
}
