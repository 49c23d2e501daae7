import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ArgumentChecker, CheckQuestion } from "../ports/argument-checker";
import { CheckLane, type LaneLimits } from "./check-lane";

/** Longest JSON text of a schema or of arguments. */
const MAX_CHARACTERS = 262_144;
/** If the check of shorter arguments is slow, the schema is considered slow. */
const SMALL_ARGUMENTS_CHARACTERS = 10_000;
/** Time for which a slow schema and its organization are remembered. */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 10_000;
const LIMITS: LaneLimits = {
  deadlineMs: 2_000,
  waitMs: 10_000,
  ownCharacters: 4_000_000,
  allCharacters: 64_000_000,
};

const TOO_SLOW = "take too long to check";
const BUSY = "cannot be checked now: too many checks are waiting";

/**
 * Checks arguments in two threads. Organizations whose check was slow use the second one for a while, so that they do
 * not delay the others again.
 */
export function threadChecker(limits: Partial<LaneLimits> = {}): ArgumentChecker {
  return new ThreadChecker({ ...LIMITS, ...limits });
}

class ThreadChecker implements ArgumentChecker {
  private readonly lane: CheckLane;
  private readonly slowLane: CheckLane;
  private readonly slowOrganizations = new LRUCache<string, true>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  });
  private readonly problems = new LRUCache<string, { readonly problem: string | undefined }>({
    max: MAX_REMEMBERED,
  });

  constructor(limits: LaneLimits) {
    this.lane = new CheckLane(limits, false);
    this.slowLane = new CheckLane(limits, true);
  }

  problemOf(organizationId: string, schema: object): Promise<string | undefined> {
    return this.problemOfText(organizationId, JSON.stringify(schema));
  }

  async violation(organizationId: string, schema: object, args: unknown): Promise<string | undefined> {
    const [text, given] = [JSON.stringify(schema), JSON.stringify(args ?? null)];
    const problem = await this.problemOfText(organizationId, text);
    if (problem !== undefined) return `The function's parameters ${problem}.`;
    if (given.length > MAX_CHARACTERS)
      return `The arguments are wrong: they are longer than ${MAX_CHARACTERS} characters.`;
    const answer = await this.ask(organizationId, { schema: text, args: given });
    if (answer === "slow") {
      if (given.length <= SMALL_ARGUMENTS_CHARACTERS) this.keep(keyOf(text), TOO_SLOW, REMEMBERED_MS);
      return `The arguments ${TOO_SLOW}.`;
    }
    if (typeof answer === "string") return `The arguments ${BUSY}.`;
    return answer.wrong === undefined ? undefined : `The arguments are wrong: ${answer.wrong}`;
  }

  async close(): Promise<void> {
    await Promise.all([this.lane.close(), this.slowLane.close()]);
  }

  private async problemOfText(organizationId: string, schema: string): Promise<string | undefined> {
    if (schema.length > MAX_CHARACTERS) return `are longer than ${MAX_CHARACTERS} characters`;
    const key = keyOf(schema);
    const known = this.problems.get(key);
    if (known) return known.problem;
    const answer = await this.ask(organizationId, { schema });
    if (answer === "slow") return this.keep(key, TOO_SLOW, REMEMBERED_MS);
    return typeof answer === "string" ? BUSY : this.keep(key, answer.unusable);
  }

  private async ask(organizationId: string, question: CheckQuestion) {
    const own = this.slowOrganizations.has(organizationId) ? this.slowLane : this.lane;
    const answer = await own.ask(organizationId, question);
    if (answer === "slow" || answer === "elsewhere") this.slowOrganizations.set(organizationId, true);
    return answer === "elsewhere" ? this.slowLane.ask(organizationId, question) : answer;
  }

  private keep(key: string, problem: string | undefined, ttl = 0): string | undefined {
    this.problems.set(key, { problem }, { ttl });
    return problem;
  }
}

const keyOf = (schema: string): string => hash("sha256", schema, "base64");
