import { readFileSync } from "node:fs";
import Ajv, { type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { Api } from "./api";

/** AsyncAPI's own JSON Schema of its documents. */
const SPECIFICATION = require.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json");

interface Message {
  readonly headers: object;
  readonly payload: { readonly $ref: string };
  readonly examples: readonly { readonly headers: object; readonly payload: object }[];
}

export interface AsyncApiDocument {
  readonly asyncapi: string;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

/** A delivery as AsyncAPI sees it: the lower-case headers of the request, and its body. */
export interface SentMessage {
  readonly headers?: object;
  readonly payload: object;
}

/** Validates messages against an AsyncAPI document, whose schemas are a superset of draft 07 of JSON Schema. */
export class AsyncApi {
  private readonly ajv = addFormats(new Ajv({ allErrors: true }));
  private readonly compiled = new Map<object, ValidateFunction>();

  constructor(readonly document: AsyncApiDocument) {}

  static async of(api: Api): Promise<AsyncApi> {
    return new AsyncApi((await api.as({}).get("/events/asyncapi.json", 200)) as AsyncApiDocument);
  }

  /** Problems of the document itself, by the rules of AsyncAPI. */
  documentProblems(): unknown[] {
    const rules = addFormats(new Ajv({ strict: false }));
    const check = rules.compile(JSON.parse(readFileSync(SPECIFICATION, "utf8")) as object);
    return check(this.document) ? [] : (check.errors ?? []);
  }

  /** Problems of a message with the given name. */
  problems(name: string, { headers, payload }: SentMessage): string[] {
    const message = this.document.components.messages[name];
    if (!message) return [`the document has no message ${name}`];
    const schema = this.document.components.schemas[message.payload.$ref.split("/").pop()!]!;
    return [
      ...this.wrong(schema, payload),
      ...(headers ? this.wrong(message.headers, headers).map((problem) => `headers${problem}`) : []),
    ];
  }

  private wrong(schema: object, value: object): string[] {
    const check = this.compiled.get(schema) ?? this.ajv.compile(schema);
    this.compiled.set(schema, check);
    return check(value) ? [] : check.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

const PAGE = `query ($after: String) { events(first: 100, after: $after) { nodes { name payload } pageInfo { endCursor hasNextPage } } }`;

/** All events of an organization, newest first. */
export async function allEvents(api: Api): Promise<{ name: string; payload: object }[]> {
  const found: { name: string; payload: object }[] = [];
  for (let after: string | undefined, more = true; more;) {
    const { nodes, pageInfo } = (await api.gql(PAGE, { after })).events;
    found.push(...nodes);
    [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  return found;
}
