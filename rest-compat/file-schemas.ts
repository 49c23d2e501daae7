import { isInputObjectType, type GraphQLSchema } from "graphql";
import { Components, type JsonSchema } from "./json-schema";

type Properties = Readonly<Record<string, JsonSchema>>;

const ENVIRONMENT_VARIABLE = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$";
const EXPECTED_VARIABLE =
  "must name an environment variable, as in ${NAME}, because files contain no secrets";

const secret = (description: string): JsonSchema => ({
  type: "string",
  pattern: ENVIRONMENT_VARIABLE,
  "x-expected": EXPECTED_VARIABLE,
  description,
});

const key = (description: string): JsonSchema => ({
  type: "string",
  maxLength: 100,
  pattern: "^[a-z0-9][a-z0-9._-]*$",
  "x-expected":
    "must consist of lowercase letters, digits, ., _ and -, and begin with a letter or digit; got {}",
  description,
});

const object = (properties: Properties, required: readonly string[] = []): JsonSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

/** A text, or the file beside the YAML file that has it. Keywords for objects don't concern texts. */
const textOrFile = (text: JsonSchema): JsonSchema => ({
  ...text,
  type: [text.type, "object"].flat(),
  properties: { file: { type: "string", minLength: 1, description: "Path of a file with the text." } },
  required: ["file"],
  additionalProperties: false,
});

const REFERENCE = { type: ["string", "null"], minLength: 1 };
const PROJECT: JsonSchema = {
  ...REFERENCE,
  description: "Name of its project, which must exist; null for none.",
};
const SERVER_SECRET = secret("Environment variable with the secret, as in ${NAME}.");

/**
 * Both forms of a function. Its fields may have any values, and there may be more, because functions are stored as sent;
 * warnings name those that do not work.
 */
const FUNCTION: JsonSchema = {
  type: "object",
  properties: {
    name: { description: "1 to 64 letters, digits, _ or -." },
    description: { description: "Text that tells the model when to call it." },
    parameters: { description: "JSON Schema of the arguments." },
    serverUrl: { description: "URL of the function; may contain ${NAME}." },
    secretKey: SERVER_SECRET,
    server: {
      properties: {
        url: { description: "URL of the function; may contain ${NAME}." },
        secret: SERVER_SECRET,
      },
    },
  },
};

const files = (maxFileBytes: number): JsonSchema => ({
  type: "array",
  maxItems: 100,
  description: "Files that the assistant answers from, by their paths from this file.",
  items: {
    "x-maxBytes": maxFileBytes,
    type: ["string", "object"],
    minLength: 1,
    properties: {
      file: { type: "string", minLength: 1, description: "Path of the file." },
      name: { type: "string", minLength: 1, description: "Name of the file, if its path ends otherwise." },
    },
    required: ["file", "name"],
    additionalProperties: false,
  },
});

/** With the greatest whole number of GraphQL: few readers of JSON Schema know the format. */
const bounded = (schema: JsonSchema): JsonSchema =>
  schema.format === "int32" ? { ...schema, maximum: schema.maximum ?? 2_147_483_647 } : schema;

/** Reads the fields of input types as properties of JSON Schema. */
class Inputs {
  private readonly components: Components;

  constructor(private readonly schema: GraphQLSchema) {
    this.components = new Components(schema);
  }

  /** @param without fields that files name otherwise */
  of(name: string, ...without: readonly string[]): Properties {
    const type = this.schema.getType(name);
    if (!isInputObjectType(type)) throw new Error(`The schema has no input type ${name}.`);
    this.components.input(type, []);
    const { properties } = this.components.schemas[name] as { properties: Properties };
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([field]) => !without.includes(field))
        .map(([field, { "x-extension": _, ...schema }]) => [field, bounded(schema)]),
    );
  }
}

/** JSON Schemas of the YAML files with records, by the kind of the record. @param maxFileBytes size of the largest file */
export function fileSchemas(
  schema: GraphQLSchema,
  maxFileBytes: number,
): Readonly<Record<string, JsonSchema>> {
  const inputs = new Inputs(schema);
  const schemas = {
    assistant: assistantOf(inputs, maxFileBytes),
    workflow: workflowOf(inputs),
    webhook: webhookOf(inputs),
    deployment: deploymentOf(inputs),
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([kind, whole]) => [
      kind,
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        title: `${kind.charAt(0).toUpperCase()}${kind.slice(1)} of Parley`,
        ...whole,
      },
    ]),
  );
}

function assistantOf(inputs: Inputs, maxFileBytes: number): JsonSchema {
  const channel = (name: string) => {
    const { prompt, resources, functions, ...fields } = inputs.of(name);
    const all = {
      ...fields,
      prompt: textOrFile(prompt!),
      resources: textOrFile(resources!),
      functions: { ...functions, items: FUNCTION },
    };
    return object(all);
  };
  const rag = object(inputs.of("UpdateRagSettingsInput"));
  return object(
    {
      key: key("Key by which this file names the assistant."),
      ...inputs.of("UpdateAssistantInput", "key", "projectId"),
      project: PROJECT,
      voice: channel("UpdateVoiceConfigurationInput"),
      sms: channel("UpdateSmsConfigurationInput"),
      chat: channel("UpdateChatConfigurationInput"),
      theme: object(inputs.of("UpdateThemeConfigurationInput")),
      rag: object({ voice: rag, sms: rag, chat: rag }),
      allowedOrigins: {
        type: "array",
        maxItems: 50,
        items: { type: "string" },
        description: "Origins of the web pages that may show the widget; if empty, every page may.",
      },
      files: files(maxFileBytes),
    },
    ["key", "name"],
  );
}

function workflowOf(inputs: Inputs): JsonSchema {
  const node = inputs.of("UpdateWorkflowNodeInput", "assistantId");
  const edge = inputs.of("UpdateWorkflowEdgeInput", "fromNodeId", "toNodeId");
  const end = (description: string) => ({ type: "string", description });
  return object(
    {
      key: key("Key by which this file names the workflow."),
      ...inputs.of("UpdateWorkflowInput", "key", "projectId"),
      project: PROJECT,
      nodes: {
        type: "object",
        description: "Nodes, by names that only this file uses.",
        additionalProperties: object(
          {
            ...node,
            instructions: textOrFile(node.instructions!),
            assistant: { ...REFERENCE, description: "Key of the assistant that speaks." },
          },
          ["type", "name"],
        ),
      },
      edges: {
        type: "array",
        description: "Edges from node to node.",
        items: object(
          { from: end("Name of the source node."), to: end("Name of the target node."), ...edge },
          ["from", "to"],
        ),
      },
    },
    ["key", "name"],
  );
}

const webhookOf = (inputs: Inputs): JsonSchema => {
  const { url: { format: _, ...url } = {}, ...fields } = inputs.of(
    "UpdateWebhookDestinationInput",
    "key",
    "secret",
    "projectId",
  );
  return object(
    {
      key: key("Key by which this file names the webhook destination."),
      ...fields,
      url: { ...url, description: "URL that receives the events; may contain ${NAME}." },
      secret: secret("Environment variable with the signing secret, as in ${NAME}."),
      project: PROJECT,
    },
    ["key", "url"],
  );
};

/** Requires one field instead of another. Null counts as left out. */
const insteadOf = (other: string, one: string): JsonSchema => ({
  required: [one],
  properties: { [one]: { not: { type: "null" } }, [other]: { type: "null" } },
});

const deploymentOf = (inputs: Inputs): JsonSchema => ({
  ...object(
    {
      key: key("Key by which this file names the deployment."),
      ...inputs.of(
        "UpdateDeploymentInput",
        ...["key", "projectId", "assistantId", "workflowId", "telephonyConnectionId"],
      ),
      assistant: { ...REFERENCE, description: "Key of the assistant that speaks." },
      workflow: { ...REFERENCE, description: "Key of the workflow that runs." },
      number: {
        ...REFERENCE,
        description: "Connected telephone number, in E.164 format; may contain ${NAME}. Null for none.",
      },
      project: PROJECT,
    },
    ["key", "type"],
  ),
  oneOf: [insteadOf("workflow", "assistant"), insteadOf("assistant", "workflow")],
  "x-expected": "must have either assistant or workflow",
});
