import { codeOf, request, type Credential, type Operation } from "./api";
import { START_SESSION, type SessionData } from "./operations.generated";
import { forBrowser, forTab } from "./storage";

export interface Identity {
  readonly uniqueId?: string;
  readonly uniqueIdSignature?: string;
}

/** Which assistant, by whose PUBLIC key: what the frame's address says. */
export interface Target extends Identity {
  readonly publicKey: string;
  readonly assistantId?: string;
  readonly deploymentId?: string;
}

interface KeptSession extends SessionData {
  /** A page may name somebody else at its next loading. */
  readonly uniqueId: string | null;
}

/** Before its end a session is renewed, in milliseconds. */
const MARGIN = 60_000;

const isKept = (value: unknown): value is KeptSession =>
  typeof value === "object" && value !== null && typeof (value as KeptSession).token === "string";

/** A visitor's standing with one assistant. The token is the tab's, the proof of who came before the browser's. */
export class Session {
  private current: KeptSession | undefined;
  private starting: Promise<KeptSession> | undefined;

  constructor(
    private readonly target: Target,
    private readonly place: string,
  ) {
    const kept = forTab.read(this.tokenPlace);
    if (isKept(kept) && kept.uniqueId === (target.uniqueId ?? null)) this.current = kept;
  }

  /** Runs an operation; a session that has ended is renewed, once. */
  async run<R, V>(query: Operation<R, V>, variables: NoInfer<V>): Promise<R> {
    const held = this.current;
    try {
      return await request(await this.credential(), query, variables);
    } catch (error) {
      if (held === undefined || codeOf(error) !== "UNAUTHENTICATED") throw error;
      if (this.current === held) this.current = undefined;
      return request(await this.credential(), query, variables);
    }
  }

  get historyAvailable(): boolean {
    return this.current?.historyAvailable ?? false;
  }

  async credential(): Promise<Credential> {
    const { current } = this;
    const stands = current && Date.parse(current.expiresAt) - Date.now() > MARGIN;
    const { token } = stands ? current : await this.renewed();
    return { Authorization: `Bearer ${token}` };
  }

  /** Several that need it at once share one. */
  private renewed(): Promise<KeptSession> {
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    return this.starting;
  }

  private async start(): Promise<KeptSession> {
    const { publicKey, ...who } = this.target;
    const kept = forBrowser.read(this.visitorPlace);
    const visitorToken = typeof kept === "string" ? kept : undefined;
    const input = { ...who, visitorToken };
    const started = await request({ "X-API-Key": publicKey }, START_SESSION, { input });
    this.current = { ...started, uniqueId: who.uniqueId ?? null };
    forTab.write(this.tokenPlace, this.current);
    forBrowser.write(this.visitorPlace, started.visitorToken);
    return this.current;
  }

  private get tokenPlace(): string {
    return `${this.place}:session`;
  }

  private get visitorPlace(): string {
    const { publicKey, deploymentId, assistantId } = this.target;
    return `parley:visitor:${publicKey}:${deploymentId ?? assistantId}`;
  }
}

/** The voice page's: bound to one chat, and not to be renewed. */
export class GivenSession {
  constructor(private readonly token: string) {}

  run<R, V>(query: Operation<R, V>, variables: NoInfer<V>): Promise<R> {
    return request({ Authorization: `Bearer ${this.token}` }, query, variables);
  }

  credential(): Promise<Credential> {
    return Promise.resolve({ Authorization: `Bearer ${this.token}` });
  }
}

export type AnySession = Pick<Session, "run" | "credential">;
