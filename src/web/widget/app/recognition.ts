/** The browsers' speech recognition API, which TypeScript's library lacks. */
interface Recognizer extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  abort(): void;
  onresult: ((event: RecognitionEvent) => void) | null;
  onerror: ((event: { readonly error: string }) => void) | null;
  onend: (() => void) | null;
}

interface RecognitionEvent {
  readonly resultIndex: number;
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }> & { readonly isFinal: boolean }>;
}

type RecognizerClass = new () => Recognizer;

function recognizerClass(): RecognizerClass | undefined {
  const { SpeechRecognition, webkitSpeechRecognition } = window as {
    SpeechRecognition?: RecognizerClass;
    webkitSpeechRecognition?: RecognizerClass;
  };
  return SpeechRecognition ?? webkitSpeechRecognition;
}

export const canListen = (): boolean => recognizerClass() !== undefined;

export interface RecognitionHandlers {
  /** Words recognized so far in an unfinished sentence. */
  interim(words: string): void;
  sentence(words: string): void;
  denied(): void;
}

/** Pause before a recognizer that ended by itself is restarted, in ms. */
const RESTART_PAUSE_MS = 250;

/** Recognizes speech until it is stopped. Browsers end a recognizer after every silence, so it is restarted. */
export class Recognition {
  private recognizer: Recognizer | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly locale: string,
    private readonly handlers: RecognitionHandlers,
  ) {}

  start(): void {
    this.stop();
    const Class = recognizerClass();
    if (!Class) return;
    const recognizer = new Class();
    recognizer.lang = this.locale;
    recognizer.continuous = false;
    recognizer.interimResults = true;
    recognizer.onresult = (event) => this.handle(event);
    recognizer.onerror = ({ error }) => {
      if (error !== "not-allowed" && error !== "service-not-allowed" && error !== "audio-capture") return;
      this.stop();
      this.handlers.denied();
    };
    recognizer.onend = () => {
      if (this.recognizer === recognizer) this.timer = setTimeout(() => this.start(), RESTART_PAUSE_MS);
    };
    this.recognizer = recognizer;
    recognizer.start();
  }

  stop(): void {
    clearTimeout(this.timer);
    const { recognizer } = this;
    this.recognizer = undefined;
    if (!recognizer) return;
    recognizer.onresult = null;
    recognizer.onerror = null;
    recognizer.abort();
  }

  private handle({ results, resultIndex }: RecognitionEvent): void {
    let interim = "";
    let final = "";
    for (const result of Array.from(results).slice(resultIndex)) {
      const words = result[0]?.transcript ?? "";
      if (result.isFinal) final += words;
      else interim += words;
    }
    if (final.trim() === "") this.handlers.interim(interim.trim());
    else {
      this.stop();
      this.handlers.sentence(final.trim());
    }
  }
}
