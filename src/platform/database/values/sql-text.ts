import { hash } from "node:crypto";

/** A query as pg takes it; a prepared statement if it has a name. */
export interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** SQL that PostgreSQL prepares under a digest of its text, so that two texts never share a name. */
export class SqlText {
  readonly #name?: string;

  /**
   * @param isPrepared whether PostgreSQL parses it once per connection, rather than planning it for the values of
   * each run
   */
  constructor(
    readonly text: string,
    isPrepared = true,
  ) {
    if (isPrepared) this.#name = hash("sha256", text, "base64url");
  }

  /** The query that pg runs. */
  with(values: unknown[]): Query {
    return { name: this.#name, text: this.text, values };
  }
}
