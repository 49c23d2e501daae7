/** A request to the checking thread. Both values are JSON text. */
export interface CheckQuestion {
  readonly schema: string;
  /** Without arguments only the schema itself is checked. */
  readonly args?: string;
}

/** The checking thread's answer; empty if everything is valid. */
export interface CheckAnswer {
  /** Why the schema cannot be used; completes the sentence "The function has parameters that …". */
  readonly unusable?: string;
  /** Violations of the schema. */
  readonly wrong?: string;
}

/** Checks arguments against JSON Schemas of customers. It runs outside the main thread: no schema can block the caller. */
export interface ArgumentChecker {
  /** Why a schema cannot be used, as the end of "The function has parameters that …"; undefined if it can. */
  problemOf(organizationId: string, schema: object): Promise<string | undefined>;
  /** Why arguments are refused, as a sentence; undefined if they match the schema. */
  violation(organizationId: string, schema: object, args: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}
