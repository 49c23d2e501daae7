/** Names of all events. */
export const EVENT_NAMES = [
  "status-changed",
  "conversation-updated",
  "function-call",
  "session-start",
  "session-end",
  "interaction-status",
  "call-recording",
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
