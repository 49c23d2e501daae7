import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ArgumentChecker, CheckQuestion } from "../ports/argument-checker";
import { CheckLane, type LaneLimits } from "./check-lane";

/** Longest text of a schema, and of arguments, in characters. */
const MOST_CHARACTERS = 262_144;
/** Arguments below this length say something about their schema when a check takes too long. */
const SMALL_ARGUMENTS = 10_000;
/** How long a slow schema and its organization are remembered, in ms. */
const REMEMBERED_MS = 600_000;
const LIMITS: LaneLimits = {
  deadline: 2_000,
  wait: 10_000,
  ownCharacters: 4_000_000,
  allCharacters: 64_000_000,
};

const TOO_SLOW = "take too long to check";
const BUSY = "cannot be checked now: too many checks are waiting";

/**
 * Checks in threads of their own. An organization whose check exceeded the deadline shares a second thread with its
 * like for a while, so that it does not delay the others again.
 */
export function threadChecker(limits: Partial<LaneLimits> = {}): ArgumentChecker {
  return new ThreadChecker({ ...LIMITS, ...limits });
}

class ThreadChecker implements ArgumentChecker {
  private readonly lane: CheckLane;
  private readonly slowLane: CheckLane;
  private readonly slowOrganizations = new LRUCache<string, true>({ max: 10_000, ttl: REMEMBERED_MS });
  private readonly problems = new LRUCache<string, { readonly problem: string | undefined }>({ max: 10_000 });

  constructor(limits: LaneLimits) {
    this.lane = new CheckLane(limits, false);
    this.slowLane = new CheckLane(limits, true);
  }

  problemOf(organizationId: string, schema: object): Promise<string | undefined> {
    return this.problemOfText(organizationId, JSON.stringify(schema));
  }

  async misfit(organizationId: string, schema: object, args: unknown): Promise<string | undefined> {
    const [text, given] = [JSON.stringify(schema), JSON.stringify(args ?? null)];
    const problem = await this.problemOfText(organizationId, text);
    if (problem !== undefined) return `The function's parameters ${problem}.`;
    if (given.length > MOST_CHARACTERS)
      return `The arguments are wrong: they are longer than ${MOST_CHARACTERS} characters.`;
    const answer = await this.ask(organizationId, { schema: text, args: given });
    if (answer === "slow") {
      if (given.length <= SMALL_ARGUMENTS) this.keep(keyOf(text), TOO_SLOW, REMEMBERED_MS);
      return `The arguments ${TOO_SLOW}.`;
    }
    if (typeof answer === "string") return `The arguments ${BUSY}.`;
    return answer.wrong === undefined ? undefined : `The arguments are wrong: ${answer.wrong}`;
  }

  async close(): Promise<void> {
    await Promise.all([this.lane.close(), this.slowLane.close()]);
  }

  private async problemOfText(organizationId: string, schema: string): Promise<string | undefined> {
    if (schema.length > MOST_CHARACTERS) return `are longer than ${MOST_CHARACTERS} characters`;
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

const keyOf = (schema: string): string => createHash("sha256").update(schema).digest("base64");
