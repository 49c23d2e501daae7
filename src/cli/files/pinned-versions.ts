import { RequestError, type Connection } from "./connection";
import { textOf } from "./kinds";
import type { Step } from "./plan";
import type { LocalRecord } from "./folder";
import type { Reading, Remote } from "./remote";

const VERSION =
  "query ($id: ID!, $number: Int!) { assistantVersion(assistantId: $id, number: $number) { number } }";

/** Lines about versions of deployments that the assistant does not have, even after the changes. @throws RequestError */
export async function missingVersions(
  local: readonly LocalRecord[],
  { records }: Remote,
  steps: readonly Step[],
  { connection }: Reading,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { kind, fields, file } of local) {
    const { assistant } = fields;
    const number = fields.assistantVersion as number | null | undefined;
    if (kind !== "deployment" || number == null || assistant == null) continue;
    const stored = records.find((one) => one.kind === "assistant" && one.key === assistant);
    const step = steps.find(({ record }) => record.kind === "assistant" && record.key === assistant);
    const next = step && makesVersion(step) ? (stored?.version ?? 0) + 1 : undefined;
    if (number === next || (stored && (await hasVersion(connection, stored.id, number)))) continue;
    problems.push(
      file.problemAt(["assistantVersion"], `The assistant ${textOf(assistant)} has no version ${number}.`),
    );
  }
  return problems;
}

/** Whether a step changes more than what versions do not contain. */
const makesVersion = ({ action, fields }: Step): boolean =>
  action === "create" || Object.keys(fields).some((name) => !["project", "missingVariables"].includes(name));

async function hasVersion(connection: Connection, id: string, number: number): Promise<boolean> {
  try {
    await connection.graphql(VERSION, { id, number });
    return true;
  } catch (error) {
    if (error instanceof RequestError && error.code === "VERSION_NOT_FOUND") return false;
    throw error;
  }
}
