/** The fields that the dashboard shows, by position; both servers return exactly these. */
export const FIELDS = {
  assistant: ["id", "name", "description", "variables"],
  voice: [
    "initialMessage",
    "prompt",
    "provider",
    "model",
    "temperature",
    "voiceProvider",
    "voice",
    "functions",
  ],
  sms: ["initialMessage", "prompt", "provider", "model", "temperature", "smsMode", "keywords", "functions"],
  chat: ["initialMessage", "prompt", "provider", "model", "temperature", "chatMode", "functions"],
  theme: ["theme", "mode"],
  log: ["id", "type", "label", "createdAt"],
} as const;

export const CHANNELS = ["voice", "sms", "chat", "theme"] as const;

/** 20 assistants with their four configurations and the last five logs of each. */
export const DASHBOARD = `query Dashboard {
  assistants(take: 20) {
    data {
      ${FIELDS.assistant.join(" ")}
      ${CHANNELS.map((channel) => `${channel} { ${FIELDS[channel].join(" ")} }`).join("\n      ")}
      logs(take: 5) { ${FIELDS.log.join(" ")} }
    }
    meta { itemCount }
  }
}`;
