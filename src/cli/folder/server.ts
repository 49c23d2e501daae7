import type { JsonObject } from "../../platform/json/json-object";
import { DeniedError, type Http } from "../import/http";
import { resultOf, transientIn, withoutAdvice, type GraphQLProblem } from "../import/target";

/** Advice for a missing key, and for one that may not read the organization. */
export const KEY_ADVICE =
  "Name a SECRET key without limits with --key or PARLEY_KEY: `npm run --silent key:create` makes one on the server.";

/** An answer of GraphQL: what could be read, and what not. */
export interface Reading {
  readonly data: JsonObject;
  readonly errors: readonly GraphQLProblem[];
}

/** A part of the organization that the key may not read, or that the server fails to show. */
export class UnreadableError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Whether an error says that a record was deleted during the export. */
export const isGone = ({ extensions }: GraphQLProblem): boolean => /_NOT_FOUND$/.test(extensions?.code ?? "");

/** The server whose organization is exported. */
export class Server {
  constructor(
    private readonly http: Http,
    /** For links, which must not get the key. */
    private readonly open: Http,
    readonly url: string,
  ) {}

  /** Runs a query. @throws DeniedError if every further one would fail */
  async read(query: string, variables: JsonObject = {}): Promise<Reading> {
    const answer = await this.http.send(`${this.url}/graphql`, {
      method: "POST",
      body: JSON.stringify({ query, variables }),
      headers: { "Content-Type": "application/json" },
      problemIn: (one) => transientIn(one, "server"),
    });
    const { data, errors: given = [] } = resultOf(answer, "server");
    const errors = given.map((one) =>
      one.extensions?.code === "FORBIDDEN" ? { ...one, message: withoutAdvice(one.message) } : one,
    );
    const fatal = errors.find(({ extensions }) => extensions?.code === "UNAUTHENTICATED");
    if (fatal)
      throw new DeniedError(`The server refuses the key: ${withoutAdvice(fatal.message)} ${KEY_ADVICE}`);
    return { data: data ?? {}, errors };
  }

  /** The data of a query that has no errors. @throws UnreadableError */
  async data(query: string, variables: JsonObject = {}): Promise<JsonObject> {
    const { data, errors } = await this.read(query, variables);
    const [error] = errors;
    if (error) throw new UnreadableError(error.extensions?.code ?? "", error.message);
    return data;
  }

  /** The content behind a link. @throws UnreadableError */
  async content(link: string, mostBytes: number): Promise<Buffer> {
    const { status, body } = await this.open.send(new URL(link, this.url).href, { mostBytes });
    if (status === 200) return body;
    throw new UnreadableError("", `The link to the content answers with status ${status}.`);
  }
}
