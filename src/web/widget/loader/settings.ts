import { knownLocale, LANGUAGES } from "../locale";
import type { Appearance } from "../protocol";
import { complain } from "./report";

/** Settings from the attributes of the script tag. */
export interface Settings {
  /** Address of the frame, in the same folder as the script. */
  readonly frameUrl: URL;
  readonly appearance: Appearance;
  readonly containerId: string;
  readonly uniqueId?: string;
  readonly uniqueIdSignature?: string;
  /** Overrides the position of the theme. */
  readonly position?: "left" | "right";
}

export const SCRIPT_ID = "companion-widget-script";
const MAX_UNIQUE_ID_LENGTH = 29;
const SECRET_KEY =
  "data-public-key contains a SECRET key. Replace it by a PUBLIC key, and make the SECRET key inactive, because visitors can read it.";

const oneOf = <T extends string>(name: string, value: string | undefined, allowed: readonly T[]) => {
  const found = allowed.find((one) => one === value);
  if (value && !found) complain(`${name}="${value}" is ignored: it must be one of ${allowed.join(", ")}.`);
  return found;
};

/** The tag that loads this script; undefined if a bundler or tag manager runs it without one. */
export function ownScript(): HTMLScriptElement | undefined {
  const candidates = [document.currentScript, document.getElementById(SCRIPT_ID)];
  return candidates.find(
    (element): element is HTMLScriptElement =>
      element instanceof HTMLScriptElement &&
      !!(element.dataset.assistantId || element.dataset.deploymentId || element.id === SCRIPT_ID),
  );
}

/** A mistake in the script tag with which the widget cannot be shown. */
export class TagMistake extends Error {}

const mistake = (what: string): never => {
  throw new TagMistake(what);
};

/** Reads the settings. @throws TagMistake if the widget cannot be shown */
export function readSettings(script: HTMLScriptElement | undefined): Settings {
  if (!script?.src) return mistake(`The page has no <script id="${SCRIPT_ID}" src="…">.`);
  const { assistantId, deploymentId, locale, ...rest } = script.dataset;
  const publicKey = rest.publicKey?.trim();
  if (!publicKey) return mistake("The attribute data-public-key is missing.");
  if (publicKey.startsWith("parley_sk_")) return mistake(SECRET_KEY);
  if (!assistantId && !deploymentId)
    return mistake("Set one of the attributes data-assistant-id and data-deployment-id.");
  if (assistantId && deploymentId)
    return mistake("Set only one of data-assistant-id and data-deployment-id.");
  const frameUrl = new URL("frame", script.src);
  // Not location.origin: a page from a file has the origin "file://" there, but "null" in messages.
  const wanted = locale?.trim();
  if (wanted && !knownLocale(wanted))
    complain(`data-locale="${wanted}" is ignored: its language must be one of ${LANGUAGES.join(", ")}.`);
  const parameters = { publicKey, deploymentId, assistantId, origin: window.origin, locale: wanted };
  for (const [name, value] of Object.entries(parameters)) if (value) frameUrl.searchParams.set(name, value);
  return {
    frameUrl,
    appearance: oneOf("data-appearance", rest.appearance, ["bubble", "iframe"]) ?? "bubble",
    containerId: rest.containerId || "companion-container",
    position: oneOf("data-position", rest.position, ["left", "right"]),
    ...identity(rest.uniqueId, rest.uniqueIdSignature),
  };
}

function identity(uniqueId: string | undefined, uniqueIdSignature: string | undefined) {
  if (!uniqueId) return {};
  if (uniqueId.length <= MAX_UNIQUE_ID_LENGTH)
    return { uniqueId, ...(uniqueIdSignature && { uniqueIdSignature }) };
  complain(`data-unique-id is ignored: it has ${uniqueId.length} characters and must have fewer than 30.`);
  return {};
}
