/** Information that a response carries besides its data. The scopes of one request share it. */
export interface Notes {
  readonly warnings: string[];
  /** The record after which the next request continues a search that ended early. */
  continueAfter?: string;
}
