import { readExactly } from "../../platform/json/json-source";
import type { JsonObject } from "../../platform/json/json-object";
import { DeniedError, ImportStoppedError, redirectIn, RefusedError, type Answer, type Http } from "./http";
import type { Report } from "./report";

const PAGE_SIZE = 100;
/** Passes over a list that changes meanwhile; the last one is taken as it is. */
const MOST_PASSES = 5;
/** Length of the largest file that a server may allow. */
const MOST_BYTES = 2_147_483_647;
/** Redirects of a link to content. */
const MOST_REDIRECTS = 5;
const UNAUTHORIZED = 401;
const KEY_ADVICE = "Check --from-key or PARLEY_FROM_KEY: it must be a SECRET key of the source.";

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const textOf = (value: unknown): string | undefined => {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
};

/** Levels of a value that can be read and sent on. A Parley server takes 32 levels of JSON. */
const MOST_LEVELS = 500;

/** Whether a value has more levels than functions that call themselves can read. */
export function isTooDeep(root: unknown): boolean {
  const waiting: [value: unknown, level: number][] = [[root, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, level] = next;
    if (level > MOST_LEVELS) return true;
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) waiting.push([inner, level + 1]);
  }
  return false;
}

/** The entries of a list in an answer, also below `name`. @throws RefusedError for something else */
export function listIn(answer: unknown, path: string, name = "data"): unknown[] {
  const list = isObject(answer) ? answer[name] : answer;
  if (Array.isArray(list)) return list as unknown[];
  throw new RefusedError(200, `The source answers ${path} with something else than a list.`);
}

/** The objects of a list in an answer. The report says if there are other entries. @throws as `listIn` */
export function entriesIn(answer: unknown, path: string, report: Report): JsonObject[] {
  const list = listIn(answer, path);
  const entries = objectsIn(list);
  if (entries.length < list.length) report.refuse(`The source lists entries of ${path} that are no objects.`);
  const readable = entries.filter((one) => !isTooDeep(one));
  if (readable.length < entries.length)
    report.refuse(`The source lists entries of ${path} that are nested too deeply.`);
  return readable;
}

/** The first entry with each id, and those without one. The report lists the others. @param noun of an entry */
export function firstOfEach(entries: readonly JsonObject[], noun: string, report: Report): JsonObject[] {
  const seen = new Set<unknown>();
  return entries.filter(({ id }) => {
    const isRepeated = seen.has(id);
    if (id !== undefined) seen.add(id);
    if (isRepeated)
      report.refuse(
        `The source lists more than one ${noun} with this id: the first one counts.`,
        textOf(id) ?? "",
      );
    return !isRepeated;
  });
}

/** The service that records come from. */
export class Source {
  /** Hosts of links that could not be reached: the import does not wait for each file of theirs. */
  private readonly away = new Set<string>();
  /** Repeats the first request that succeeded: once that is refused too, the key has ended. Else a refusal may pass. */
  private repeat?: () => Promise<Answer>;

  constructor(
    private readonly http: Http,
    readonly url: string,
  ) {}

  /** The JSON of an answer. @throws RefusedError for another status than success; DeniedError; ImportStoppedError */
  async json(path: string, sent: Parameters<Http["send"]>[1] = {}): Promise<unknown> {
    const send = () => this.http.send(`${this.url}${path}`, sent);
    let answer = await send();
    if (answer.status === UNAUTHORIZED && this.repeat) {
      const isRefused = (await this.repeat()).status === UNAUTHORIZED;
      if (isRefused) throw new DeniedError(`${reasonIn(answer, path)} ${KEY_ADVICE}`);
      answer = await send();
    }
    if (isSuccess(answer)) {
      this.repeat ??= send;
      return parsed(answer, path);
    }
    throw new RefusedError(answer.status, reasonIn(answer, path));
  }

  /** An object. @throws as `json` */
  async object(path: string): Promise<JsonObject> {
    const value = await this.json(path);
    if (isTooDeep(value))
      throw new RefusedError(200, `The source answers ${path} with values that are nested too deeply.`);
    if (isObject(value)) return value;
    throw new RefusedError(200, `The source answers ${path} with something else than an object.`);
  }

  /**
   * All entries of a list, oldest first, page after page. A record that a pass skips, because another one was deleted, is
   * found by the next. @param noun of an entry, for the report about those that a page repeats
   */
  async *list(path: string, noun: string, report: Report): AsyncGenerator<JsonObject> {
    const seen = new Set<unknown>();
    for (let pass = 1; pass <= MOST_PASSES; pass++) {
      const counts = new Set<unknown>();
      const inPass = new Set<unknown>();
      for (let page = 1, hasMore = true; hasMore; page++) {
        const answer = await this.json(`${path}?order=asc&page=${page}&take=${PAGE_SIZE}`);
        const entries = entriesIn(answer, path, report);
        const meta = isObject(answer) && isObject(answer.meta) ? answer.meta : undefined;
        // A page with nothing new is the answer of a service without pages.
        const hasNew = entries.some(({ id }) => !inPass.has(id));
        hasMore = hasNew && (meta ? meta.hasNextPage === true : entries.length >= PAGE_SIZE);
        counts.add(meta?.itemCount);
        const unseen = entries.filter(({ id }) => !seen.has(id));
        for (const { id } of entries) {
          inPass.add(id);
          seen.add(id);
        }
        yield* firstOfEach(unseen, noun, report);
      }
      if (counts.size === 1) return;
    }
  }

  /** The content at a link, which needs no key, so redirects are followed. @param mostBytes to read @throws RefusedError */
  async content(link: unknown, open: Http, mostBytes = MOST_BYTES): Promise<Answer> {
    let address = addressIn(link, this.url);
    for (let redirects = 0; ; redirects++) {
      const answer = await this.reach(address, open, mostBytes);
      if (isSuccess(answer)) return answer;
      if (redirectIn(answer) === "" || redirects === MOST_REDIRECTS)
        throw new RefusedError(
          answer.status,
          `The link to the content answers with status ${answer.status}.`,
        );
      address = addressIn(answer.location, address.href);
    }
  }

  /** Files may be on a server that only the source can reach. @throws RefusedError if it cannot be reached */
  private async reach({ href, host }: URL, open: Http, mostBytes: number): Promise<Answer> {
    if (this.away.has(host)) throw new RefusedError(503, `${host} could not be reached before.`);
    try {
      return await open.send(href, { mostBytes });
    } catch (error) {
      if (!(error instanceof ImportStoppedError) || host === new URL(this.url).host) throw error;
      this.away.add(host);
      throw new RefusedError(503, error.message);
    }
  }
}

/** @throws RefusedError for a link that cannot be followed */
function addressIn(link: unknown, base: string): URL {
  const given = textOf(link) ?? "";
  const address = given !== "" && URL.canParse(given, base) ? new URL(given, base) : undefined;
  if (address && /^https?:$/.test(address.protocol)) return address;
  throw new RefusedError(200, "The source gives no link to it that can be followed.");
}

/** Reads something without which there is nothing to import. @throws DeniedError; ImportStoppedError if the source is broken */
export async function required<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.status >= 500) throw new ImportStoppedError(error.message);
    const hint = [UNAUTHORIZED, 403].includes(error.status)
      ? KEY_ADVICE
      : "Check --from: it must be the address of the source.";
    throw new DeniedError(`${error.message} ${hint}`);
  }
}

function parsed({ body }: Answer, path: string): unknown {
  try {
    return readExactly(body.toString());
  } catch {
    throw new RefusedError(200, `The source answers ${path} with something else than JSON.`);
  }
}

const reasonIn = (answer: Answer, path: string): string =>
  `The source answers ${path} with status ${answer.status}${redirectIn(answer) || messageIn(answer)}.`;

function messageIn({ body }: Answer): string {
  try {
    const answer: unknown = JSON.parse(body.toString());
    return isObject(answer) && typeof answer.message === "string" ? ` (${answer.message.slice(0, 200)})` : "";
  } catch {
    return "";
  }
}
