/** What the checking thread is asked. Both values are JSON text. */
export interface CheckQuestion {
  readonly schema: string;
  /** Absent: whether the schema can be used at all. */
  readonly args?: string;
}

/** What it answers: neither field where all is well. */
export interface CheckAnswer {
  /** Why the schema cannot be used, behind "has parameters that ". */
  readonly unusable?: string;
  /** How the arguments break the schema. */
  readonly wrong?: string;
}

/** Checks arguments by JSON Schemas that tenants wrote, apart from the main thread: whatever a schema holds, the caller goes on. */
export interface ArgumentChecker {
  /** Why a schema cannot be used, behind "has parameters that "; undefined when it can. */
  problemOf(organizationId: string, schema: object): Promise<string | undefined>;
  /** Why arguments are refused; undefined when they fit the schema. */
  misfit(organizationId: string, schema: object, args: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}
