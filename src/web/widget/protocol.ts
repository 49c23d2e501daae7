/** Messages between the loader on the page and the frame (postMessage). */

export const SOURCE = "companion-widget";

export type JsonObject = Readonly<Record<string, unknown>>;
export type Appearance = "bubble" | "iframe";

/** Data that the page supplies about its visitor; sent completely, at first and after every change. */
export interface PageData {
  readonly variables: JsonObject;
  readonly metadata: JsonObject;
}

/** The part of the theme that the launcher needs; colors have the form #rrggbb. */
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
  /** The application has started and needs `init`. */
  | { readonly type: "ready" }
  /** The assistant can be talked with. */
  | { readonly type: "started" }
  | { readonly type: "look"; readonly look: Look }
  | { readonly type: "close" }
  | { readonly type: "unread"; readonly count: number }
  | { readonly type: "message"; readonly role: string; readonly content: string }
  | { readonly type: "error"; readonly where: string; readonly what: string };

export const sealed = <T extends ToFrame | ToPage>(message: T) => ({ source: SOURCE, ...message });

/** Reads a message of this protocol; undefined for anything else. */
export function unsealed<T extends ToFrame | ToPage>(data: unknown): T | undefined {
  const message = data as { source?: unknown; type?: unknown } | null;
  const ours = typeof message === "object" && message?.source === SOURCE && typeof message.type === "string";
  return ours ? (data as T) : undefined;
}
