/** The texts of the widget in one language. */
export interface Words {
  readonly open: string;
  readonly close: string;
  readonly unread: string;
  readonly conversation: string;
  readonly write: string;
  readonly send: string;
  readonly you: string;
  readonly newChat: string;
  readonly history: string;
  readonly noHistory: string;
  readonly back: string;
  readonly thinking: string;
  readonly writing: string;
  readonly using: string;
  readonly offline: string;
  /** Shown while the installation answers nobody. */
  readonly held: string;
  readonly notSent: string;
  readonly again: string;
  readonly unavailable: string;
  readonly failed: string;
  readonly busy: string;
  readonly ended: string;
  /** Under an answer that was looked up without a model. */
  readonly local: string;
  readonly suggestions: string;
  readonly talk: string;
  readonly startTalking: string;
  readonly hangUp: string;
  readonly listening: string;
  readonly speaking: string;
  readonly connecting: string;
  readonly mute: string;
  readonly unmute: string;
  readonly muted: string;
  readonly interrupt: string;
  readonly denied: string;
  readonly deaf: string;
  readonly deafOnly: string;
  readonly elsewhere: string;
  readonly callEnded: string;
  readonly latest: string;
}
