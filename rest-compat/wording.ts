/** Descriptions of the OpenAPI document that GraphQL words for itself, by type, or by `Type.field`. */
const REST: Readonly<Record<string, string>> = {
  "Message.reply":
    "The assistant's answer, if the message was posted with `wait=true` and the answer came in time; absent otherwise.",
  "Key.value":
    "Value of the key. Values of SECRET keys are masked, except for callers with a SECRET key and in the response that creates the key.",
  "CreateKeyInput.permissions": "Permissions, at least one. Absent: all.",
  "CreateWebhookDestinationInput.secret":
    "Signing secret, 1 to 4,096 characters. GET /rest/v1/settings/secret returns a suitable one.",
  UpdateWebhookDestinationInput:
    "Changes to a webhook destination. Omitted fields stay unchanged; null clears the name or the choice of events.",
};

/** The description of a type, or of a field of it, in the words of REST. */
export const inRest = (name: string, description: string | null | undefined): string | null | undefined =>
  REST[name] ?? description;

/** The description of a field of a response: REST leaves out what is null. */
export const inResponse = (name: string, description: string | null | undefined): string | undefined =>
  inRest(name, description)
    ?.replaceAll(/\. null(?= |:)/g, ". Absent")
    .replaceAll(/\bnull(?= |:)/g, "absent");
