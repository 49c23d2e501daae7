/** A worker that Citus cannot connect to, with the reason. */
const NO_CONNECTION = /connection to the remote node (\S+) failed(?: with the following error: (.+))?/;
const ON_WORKER = /while executing command on (\S+)/;

/** Problems of a worker and their remedies, by SQLSTATE. */
const PROBLEMS: readonly (readonly [RegExp, string, string])[] = [
  [/^(08...|57P0[123])$/, "does not answer", "Start it or its standby, then try again."],
  [
    /^25006$/,
    "is read-only",
    "Lead its address to the primary, and check default_transaction_read_only there.",
  ],
];

/** An error that names the worker of a Citus cluster that cannot do its part, and what to do; undefined for other errors. */
export function workerProblem(error: unknown): Error | undefined {
  const {
    code = "",
    message = "",
    where = "",
  } = Object(error) as Readonly<Record<string, string | undefined>>;
  const [, node, reason = withoutStatement(message)] =
    NO_CONNECTION.exec(message) ?? ON_WORKER.exec(where) ?? [];
  const [, what, remedy] = PROBLEMS.find(([codes]) => codes.test(String(code))) ?? [];
  if (node === undefined || what === undefined) return undefined;
  const worker = node.slice(node.lastIndexOf("@") + 1); // without the role
  return new Error(`A worker of the Citus cluster, ${worker}, ${what}: ${reason}. ${remedy}`, {
    cause: error,
  });
}

/** The message without the statement that Knex puts before it. */
export const withoutStatement = (message: string): string =>
  message.slice(message.lastIndexOf(" - ") + 1).replace(/^- /, "");
