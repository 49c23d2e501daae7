/** What the page's loader and the frame say to each other by postMessage. */

export const SOURCE = "companion-widget";

export type JsonObject = Readonly<Record<string, unknown>>;
export type Appearance = "bubble" | "iframe";

/** What the page knows about its visitor and their talk; sent whole, at the beginning and whenever it changes. */
export interface PageData {
  readonly variables: JsonObject;
  readonly metadata: JsonObject;
}

/** Of the theme, what the launcher on the page needs; colours are of the form #rrggbb. */
export interface Look {
  readonly color: string;
  readonly onColor: string;
  readonly fontFamily: string;
  readonly position: "left" | "right";
  readonly radius: number;
  readonly launcherText: string;
  readonly title: string;
  readonly words: { readonly open: string; readonly close: string; readonly unread: string };
}

export type ToFrame =
  | {
      readonly type: "init";
      readonly appearance: Appearance;
      readonly open: boolean;
      readonly uniqueId?: string;
      readonly uniqueIdSignature?: string;
      readonly data: PageData;
    }
  | { readonly type: "initialize"; readonly data: PageData }
  | { readonly type: "open" }
  | { readonly type: "close" };

export type ToPage =
  /** The application is there and wants its `init`. */
  | { readonly type: "ready" }
  | { readonly type: "look"; readonly look: Look }
  | { readonly type: "close" }
  | { readonly type: "unread"; readonly count: number }
  | { readonly type: "message"; readonly role: string; readonly content: string }
  | { readonly type: "error"; readonly where: string; readonly what: string };

export const sealed = <T extends ToFrame | ToPage>(message: T) => ({ source: SOURCE, ...message });

/** A message of this protocol, or undefined for anything else that arrives. */
export function unsealed<T extends ToFrame | ToPage>(data: unknown): T | undefined {
  const message = data as { source?: unknown; type?: unknown } | null;
  const ours = typeof message === "object" && message?.source === SOURCE && typeof message.type === "string";
  return ours ? (data as T) : undefined;
}
