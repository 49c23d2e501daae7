/**
 * All events, with the version of their `data`. Stored events have no version of their own: a change that needs
 * version 2 has to store it with each event, so that a replay names the version of its body.
 */
export const EVENT_VERSIONS = {
  "status-changed": 1,
  "conversation-updated": 1,
  "function-call": 1,
  "session-start": 1,
  "session-end": 1,
  "interaction-status": 1,
  "call-recording": 1,
} as const;

export type EventName = keyof typeof EVENT_VERSIONS;

/** Names of all events. */
export const EVENT_NAMES = Object.keys(EVENT_VERSIONS) as EventName[];

/** Events for destinations without a choice. Events that are added later are sent only to destinations that choose them. */
export const DEFAULT_EVENTS: readonly EventName[] = [
  "status-changed",
  "conversation-updated",
  "function-call",
  "session-start",
  "session-end",
  "interaction-status",
  "call-recording",
];
