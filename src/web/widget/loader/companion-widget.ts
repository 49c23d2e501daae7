import type { JsonObject, PageData } from "../protocol";
import { complain, guarded, remark } from "./report";
import type { Settings } from "./settings";
import { EVENTS, Widget, type EventName } from "./widget";

type Handler = (detail: object) => void;

const MARK = Symbol.for("companion-widget");

/**
 * Reduces a value to JSON; other values, such as functions, cannot be sent to the frame.
 * @returns undefined, after a complaint, for a value that is no object
 */
function plain(name: string, value: unknown): JsonObject | undefined {
  if (value == null) return {};
  if (typeof value === "object" && !Array.isArray(value))
    return JSON.parse(JSON.stringify(value)) as JsonObject;
  complain(`initializeAssistant expects ${name} to be an object. This call changes nothing.`);
  return undefined;
}

/** `window.CompanionWidget`, the interface for pages. Its methods never throw. */
export class CompanionWidget {
  readonly [MARK] = true;
  private widgets: Widget[] = [];
  private data: PageData = { variables: {}, metadata: {} };
  private readonly handlers = new Map<EventName, Set<Handler>>();

  static is(value: unknown): value is CompanionWidget {
    return typeof value === "object" && value !== null && MARK in value;
  }

  /** Adds an assistant unless the page already has one in its place. Called by the loader. */
  add(settings: Settings): void {
    const place = Widget.placeOf(settings);
    if (this.widgets.some((widget) => widget.place === place))
      return remark(`This page already has ${place}; the script was loaded more than once.`);
    this.widgets.push(new Widget(settings, () => this.data, this.emit));
  }

  /** Notifies the page that the widget cannot be shown. Called by the loader. */
  fail(where: string, message: string): void {
    this.emit("error", { where, message });
  }

  /** Sets values for the prompt's {variables} and metadata to store with the conversation. May be called repeatedly. */
  readonly initializeAssistant = guarded("initializeAssistant", (first?: unknown, second?: unknown) => {
    const [variables, metadata] = [plain("variables", first), plain("metadata", second)];
    if (!variables || !metadata) return;
    this.data = { variables, metadata };
    for (const widget of this.widgets) widget.initialize();
  });

  readonly open = guarded("open", () => this.widgets.forEach((widget) => widget.open()));

  readonly close = guarded("close", () => this.widgets.forEach((widget) => widget.close()));

  /** Removes everything from the page; the script may be loaded again afterwards. */
  readonly destroy = guarded("destroy", () => {
    for (const widget of this.widgets.splice(0)) widget.remove();
    this.handlers.clear();
    this.data = { variables: {}, metadata: {} };
  });

  /** Adds a listener. @returns a function that removes it */
  readonly on = (event: EventName, handler: Handler): (() => void) => {
    if (!EVENTS.includes(event) || typeof handler !== "function") {
      complain(`on expects one of ${EVENTS.join(", ")}, and a function.`);
      return () => undefined;
    }
    const handlers = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, handlers.add(handler));
    return () => void handlers.delete(handler);
  };

  private readonly emit = (event: EventName, detail: object) =>
    this.handlers.get(event)?.forEach((handler) => guarded(`A handler of "${event}"`, handler)(detail));
}
