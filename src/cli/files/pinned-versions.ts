import { RequestError, type Connection } from "./connection";
import { textOf } from "./kinds";
import type { Step } from "./plan";
import type { LocalRecord } from "./folder";
import type { Reading, Remote } from "./remote";

const VERSION =
  "query ($id: ID!, $number: Int!) { assistantVersion(assistantId: $id, number: $number) { createdAt } }";

/** Lines about the versions of deployments. */
export interface PinnedVersions {
  /** About versions that the assistant does not have, even after the changes. */
  readonly problems: readonly string[];
  /** About versions that the plan pins: files of another server mean another document by the same number. */
  readonly warnings: readonly string[];
}

/** @throws RequestError */
export async function pinnedVersions(
  local: readonly LocalRecord[],
  { records }: Remote,
  steps: readonly Step[],
  { connection }: Reading,
): Promise<PinnedVersions> {
  const [problems, warnings]: [string[], string[]] = [[], []];
  for (const record of local) {
    const { kind, fields, file } = record;
    const { assistant } = fields;
    const number = fields.assistantVersion as number | null | undefined;
    if (kind !== "deployment" || number == null || assistant == null) continue;
    const stored = records.find((one) => one.kind === "assistant" && one.key === assistant);
    const step = steps.find(({ record }) => record.kind === "assistant" && record.key === assistant);
    if (!stored && !step) continue; // `brokenReferences` reports it
    const isNext = step && makesVersion(step) && number === (stored?.version ?? 0) + 1;
    const createdAt = isNext || !stored ? undefined : await timeOf(connection, stored.id, number);
    const say = (sentence: string) => file.problemAt(["assistantVersion"], sentence);
    const name = textOf(assistant);
    const origin = isNext ? "apply makes" : `this server has had since ${createdAt}`;
    if (!isNext && createdAt === undefined)
      problems.push(say(`The assistant ${name} has no version ${number}.`));
    else if (steps.some((one) => one.local === record && pins(one)))
      warnings.push(
        say(
          `Warning: This pins version ${number} of the assistant ${name}, which ${origin}. Other servers have another version with this number.`,
        ),
      );
  }
  return { problems, warnings };
}

/** Whether a step pins a version that was not pinned before. */
const pins = ({ action, fields }: Step): boolean =>
  action === "create" || "assistantVersion" in fields || "assistant" in fields;

/** Whether a step changes more than what versions do not contain. */
const makesVersion = ({ action, fields }: Step): boolean =>
  action === "create" || Object.keys(fields).some((name) => !["project", "missingVariables"].includes(name));

/** When a version was made. @returns undefined if the assistant does not have it */
async function timeOf(connection: Connection, id: string, number: number): Promise<string | undefined> {
  try {
    const { assistantVersion } = await connection.graphql<{ assistantVersion: { createdAt: string } }>(
      VERSION,
      { id, number },
    );
    return assistantVersion.createdAt;
  } catch (error) {
    if (error instanceof RequestError && error.code === "VERSION_NOT_FOUND") return undefined;
    throw error;
  }
}
