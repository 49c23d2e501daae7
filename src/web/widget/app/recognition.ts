/** What browsers offer for recognizing speech; TypeScript's library does not know it yet. */
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

export interface Ears {
  /** What is understood so far of a sentence that goes on. */
  interim(words: string): void;
  sentence(words: string): void;
  denied(): void;
}

/** After how long a recognizer that ended by itself is started again, in milliseconds. */
const REST = 250;

/** Listens until it is stopped; a browser's recognizer ends by itself after every silence. */
export class Recognition {
  private recognizer: Recognizer | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly locale: string,
    private readonly ears: Ears,
  ) {}

  start(): void {
    this.stop();
    const Class = recognizerClass();
    if (!Class) return;
    const recognizer = new Class();
    recognizer.lang = this.locale;
    recognizer.continuous = false;
    recognizer.interimResults = true;
    recognizer.onresult = (event) => this.understood(event);
    recognizer.onerror = ({ error }) => {
      if (error !== "not-allowed" && error !== "service-not-allowed" && error !== "audio-capture") return;
      this.stop();
      this.ears.denied();
    };
    recognizer.onend = () => {
      if (this.recognizer === recognizer) this.timer = setTimeout(() => this.start(), REST);
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

  private understood({ results, resultIndex }: RecognitionEvent): void {
    let interim = "";
    let final = "";
    for (const result of Array.from(results).slice(resultIndex)) {
      const words = result[0]?.transcript ?? "";
      if (result.isFinal) final += words;
      else interim += words;
    }
    if (final.trim() === "") this.ears.interim(interim.trim());
    else {
      this.stop();
      this.ears.sentence(final.trim());
    }
  }
}
