import { codeOf, request, type Credential, type Operation } from "./api";
import { START_SESSION, type SessionData } from "./operations.generated";
import { forBrowser, forTab } from "./storage";

export interface Identity {
  readonly uniqueId?: string;
  readonly uniqueIdSignature?: string;
}

/** The assistant and the PUBLIC key, from the frame's URL. */
export interface Target extends Identity {
  readonly publicKey: string;
  readonly assistantId?: string;
  readonly deploymentId?: string;
}

interface StoredSession extends SessionData {
  /** The page may identify another person when it is loaded again. */
  readonly uniqueId: string | null;
}

/** How long before its expiry a session is renewed, in ms. */
const RENEWAL_MARGIN_MS = 60_000;

const isStored = (value: unknown): value is StoredSession =>
  typeof value === "object" && value !== null && typeof (value as StoredSession).token === "string";

/**
 * A visitor's session with one assistant. The session token is stored per tab; the visitor token, which identifies a
 * returning visitor, per browser.
 */
export class Session {
  private current: StoredSession | undefined;
  private starting: Promise<StoredSession> | undefined;

  constructor(
    private readonly target: Target,
    private readonly storageKey: string,
  ) {
    const stored = forTab.read(this.tokenKey);
    if (isStored(stored) && stored.uniqueId === (target.uniqueId ?? null)) this.current = stored;
  }

  /** Runs an operation; an expired session is renewed once. */
  async run<R, V>(query: Operation<R, V>, variables: NoInfer<V>): Promise<R> {
    const used = this.current;
    try {
      return await request(await this.credential(), query, variables);
    } catch (error) {
      if (used === undefined || codeOf(error) !== "UNAUTHENTICATED") throw error;
      if (this.current === used) this.current = undefined;
      return request(await this.credential(), query, variables);
    }
  }

  get historyAvailable(): boolean {
    return this.current?.historyAvailable ?? false;
  }

  async credential(): Promise<Credential> {
    const { current } = this;
    const isValid = current && Date.parse(current.expiresAt) - Date.now() > RENEWAL_MARGIN_MS;
    const { token } = isValid ? current : await this.renewed();
    return { Authorization: `Bearer ${token}` };
  }

  /** Concurrent callers share one renewal. */
  private renewed(): Promise<StoredSession> {
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    return this.starting;
  }

  private async start(): Promise<StoredSession> {
    const { publicKey, ...who } = this.target;
    const stored = forBrowser.read(this.visitorKey);
    const visitorToken = typeof stored === "string" ? stored : undefined;
    const input = { ...who, visitorToken };
    const started = await request({ "X-API-Key": publicKey }, START_SESSION, { input });
    this.current = { ...started, uniqueId: who.uniqueId ?? null };
    forTab.write(this.tokenKey, this.current);
    forBrowser.write(this.visitorKey, started.visitorToken);
    return this.current;
  }

  private get tokenKey(): string {
    return `${this.storageKey}:session`;
  }

  private get visitorKey(): string {
    const { publicKey, deploymentId, assistantId } = this.target;
    return `parley:visitor:${publicKey}:${deploymentId ?? assistantId}`;
  }
}

/** The session of the call page: limited to one chat and not renewable. */
export class ChatSession {
  constructor(private readonly token: string) {}

  run<R, V>(query: Operation<R, V>, variables: NoInfer<V>): Promise<R> {
    return request({ Authorization: `Bearer ${this.token}` }, query, variables);
  }

  credential(): Promise<Credential> {
    return Promise.resolve({ Authorization: `Bearer ${this.token}` });
  }
}

export type AnySession = Pick<Session, "run" | "credential">;
