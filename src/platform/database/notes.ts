/** Information that a response carries besides its data. The scopes of one request share it. */
export interface Notes {
  readonly warnings: string[];
  /** The request that continues a search that ended early. */
  continuation?: Continuation;
}

/** The part of a list that follows a record: pages are counted from there. */
export interface Continuation {
  readonly after: string;
  readonly page: number;
  readonly take: number;
}
