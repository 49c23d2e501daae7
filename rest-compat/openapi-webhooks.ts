import type { Components, JsonSchema } from "./json-schema";

interface Header {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example: string;
}

/** An event that webhook destinations receive. */
export interface WebhookEvent {
  readonly name: string;
  /** In Markdown. */
  readonly description: string;
  readonly schema: object;
  readonly example: object;
  readonly headers: readonly Header[];
}

const parameterOf = (header: Header): JsonSchema => ({ in: "header", ...header });

/** Headers that are the same in all events, as parameters by name. */
export function sharedHeaders(events: readonly WebhookEvent[]): JsonSchema {
  const parameters = events.flatMap(({ headers }) => headers.map(parameterOf));
  const texts = parameters.map((parameter) => JSON.stringify(parameter));
  const shared = parameters.filter(
    (_, index) => texts.filter((text) => text === texts[index]).length === events.length,
  );
  return Object.fromEntries(shared.map((parameter) => [parameter.name as string, parameter]));
}

/** `session-start` as `SessionStart`. */
const typeName = (name: string): string =>
  name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());

const DESCRIPTION =
  "Sent to each webhook destination that has chosen it, at least once. [Events](/docs/events) shows every payload, [Webhooks](/docs/webhooks) how to verify the signatures.";

/** The requests that webhook destinations receive, by event. */
export function webhooksOf(events: readonly WebhookEvent[], components: Components): JsonSchema {
  const shared = sharedHeaders(events);
  const pathItem = ({ name, description, schema, example, headers }: WebhookEvent): JsonSchema => ({
    post: {
      operationId: `receive${typeName(name)}`,
      summary: description.split(". ")[0]!.replace(/\.$/, ""),
      "x-extension": true,
      description: DESCRIPTION,
      parameters: headers.map((header) =>
        header.name in shared ? { $ref: `#/components/parameters/${header.name}` } : parameterOf(header),
      ),
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: components.add(`${typeName(name)}Event`, schema as JsonSchema),
            example,
          },
        },
      },
      responses: {
        "2XX": { description: "Received. The content is ignored." },
        "410": { description: "No further events are wanted: the destination is disabled." },
        default: { description: "Not received: the event is sent again later." },
      },
    },
  });
  return Object.fromEntries(events.map((event) => [event.name, pathItem(event)]));
}
