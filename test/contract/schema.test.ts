import { describe, expect, test } from "@jest/globals";
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from "graphql";
import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLNamedType } from "graphql";
import { validateRoute } from "../../rest-compat/compile";
import { routes } from "../../rest-compat/routes/index";
import { compileInterfaces, generatedDocuments } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { OpenApi, type JsonObject, type OpenApiDocument } from "../support/openapi";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith("__") && !isSpecifiedScalarType(type),
);

type Described = GraphQLNamedType | GraphQLField<unknown, unknown> | GraphQLInputField | GraphQLArgument;

/** A type and its members, by name. */
function partsOf(type: GraphQLNamedType): [string, Described][] {
  const fields =
    isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields())
      : [];
  return [
    [type.name, type],
    ...fields.flatMap((field): [string, Described][] => [
      [`${type.name}.${field.name}`, field],
      ...("args" in field ? field.args : []).map((argument): [string, Described] => [
        `${type.name}.${field.name}(${argument.name})`,
        argument,
      ]),
    ]),
  ];
}

describe("the GraphQL schema describes", () => {
  test.each(types.map((type) => [type.name, type] as const))("%s and all its members", (_, type) => {
    const silent = partsOf(type).filter(([, { description }]) => !/\S/.test(description ?? ""));
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  test("every value of an enum", () => {
    const values = Object.values(schema.getTypeMap())
      .filter(isEnumType)
      .filter(({ name }) => !name.startsWith("__"))
      .flatMap((type) => type.getValues().map((value) => ({ ...value, name: `${type.name}.${value.name}` })));
    const silent = values.filter(({ description }) => !/\S/.test(description ?? ""));
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(values.length).toBeGreaterThan(100);
  });
});

describe("values of the GraphQL schema have a type that says what they are:", () => {
  const fields = types
    .filter((type) => isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
    .flatMap((type) => partsOf(type))
    .flatMap(([name, part]) => ("type" in part ? [{ name, type: String(part.type) }] : []));

  test("a time is a DateTime", () => {
    const times = fields.filter(({ name }) => /(At|Since|Until|After|Before|Time)$/.test(name));
    expect(times.filter(({ type }) => !/^DateTime!?$/.test(type))).toEqual([]);
    expect(times.length).toBeGreaterThan(50);
  });

  test("a String for a day is a date without a time, in the zone of its report", () => {
    const days = fields.filter(
      ({ name, type }) => /\b(date|day|from|to)$/i.test(name) && /^String/.test(type),
    );
    expect(days.map(({ name }) => name).sort()).toEqual(["AnalyticsDay.date", "DeliveryDay.date"]);
  });

  test("a scalar of the service names its specification", () => {
    const scalars = types.filter(isScalarType);
    expect(scalars.map(({ name }) => name).sort()).toEqual(["DateTime", "JSON", "JSONObject", "Upload"]);
    expect(scalars.filter(({ specifiedByURL }) => !/^https:/.test(specifiedByURL ?? ""))).toEqual([]);
  });
});

const MODELS = [
  "GPT_4_O",
  "GPT_3_5_TURBO",
  "GPT_4_TURBO",
  "GPT_4_O_MINI",
  "LLAMA_3_70B",
  "LLAMA_3_8B",
  "LLAMA_3_1_405B_REASONING",
  "MIXTRAL",
  "CLAUDE_3_OPUS",
  "CLAUDE_3_SONNET",
  "CLAUDE_3_HAIKU",
  "CLAUDE_3_5_SONNET",
];
const VOICES = [
  "burt marissa andrea sarah phillip steve joseph myra paula ryan drew paul mrb matilda mark",
  "alloy echo fable onyx nova shimmer",
  "jennifer melissa will chris matt jack ruby davis donna michael",
].flatMap((vendor) => vendor.split(" "));

/** Every enumeration of the contract, with its values in order. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  TextProvider: ["OPENAI", "GROQ", "ANTHROPIC"],
  SmsProvider: ["OPENAI", "GROQ"],
  ChatProvider: ["OPENAI", "GROQ"],
  VoiceModel: MODELS,
  SmsModel: MODELS.slice(0, 8),
  ChatModel: MODELS.slice(0, 8),
  SpeechProvider: ["ELEVENLABS", "PLAYHT", "OPENAI"],
  Voice: VOICES,
  BackgroundSound: ["DEFAULT", "OFF", "OFFICE"],
  Channel: ["VOICE", "TEXT", "SMS"],
  ThemeMode: ["CHAT_ONLY", "VOICE_ONLY", "VOICE_AND_CHAT"],
  KeyType: ["SECRET", "PUBLIC"],
  KeyStatus: ["ACTIVE", "INACTIVE"],
  MessageRole: ["ASSISTANT", "TOOL", "USER", "SYSTEM"],
  SortOrder: ["asc", "desc"],
};

test("the catalog has the 12 models and 31 voices of the contract", () => {
  expect([MODELS.length, VOICES.length, new Set(VOICES).size]).toEqual([12, 31, 31]);
});

test.each(Object.entries(ENUMERATIONS))("GraphQL's %s has the contract's values in order", (name, values) => {
  const type = schema.getType(name);
  expect(isEnumType(type) && type.getValues().map((value) => value.name)).toEqual(values);
});

describe("OpenAPI enums have the contract's values in order:", () => {
  const text = generatedDocuments()["rest-compat/openapi.json"]!;
  const { schemas } = new OpenApi(JSON.parse(text) as OpenApiDocument).document.components;
  const enumeration = (schemaName: string, property: string) =>
    ((schemas[schemaName]?.properties as Record<string, JsonObject> | undefined)?.[property]?.enum ??
      []) as unknown[];

  const PLACES: readonly [string, string, string][] = [
    ...["VoiceConfiguration", "UpdateVoiceConfigurationInput"].flatMap(
      (place): [string, string, string][] => [
        [place, "provider", "TextProvider"],
        [place, "model", "VoiceModel"],
        [place, "voiceProvider", "SpeechProvider"],
        [place, "voice", "Voice"],
        [place, "backgroundSound", "BackgroundSound"],
      ],
    ),
    ...["SmsConfiguration", "UpdateSmsConfigurationInput"].flatMap((place): [string, string, string][] => [
      [place, "provider", "SmsProvider"],
      [place, "model", "SmsModel"],
    ]),
    ...["ChatConfiguration", "UpdateChatConfigurationInput"].flatMap((place): [string, string, string][] => [
      [place, "provider", "ChatProvider"],
      [place, "model", "ChatModel"],
    ]),
    ["ThemeConfiguration", "mode", "ThemeMode"],
    ["LogListItem", "type", "Channel"],
    ["Log", "type", "Channel"],
    ["Key", "type", "KeyType"],
    ["Key", "status", "KeyStatus"],
    ["CreateKeyInput", "type", "KeyType"],
    ["CreateKeyInput", "status", "KeyStatus"],
    ["UpdateKeyInput", "status", "KeyStatus"],
    ["PostMessageInput", "role", "MessageRole"],
    ["PostMessageInput", "channel", "Channel"],
  ];

  test.each(PLACES)("%s.%s is %s", (schemaName, property, name) => {
    expect(enumeration(schemaName, property)).toEqual(ENUMERATIONS[name]);
  });
});

test("a REST route whose document does not match the schema fails the build", () => {
  const route = { ...routes[0]!, id: "wrong", document: "{ result: nothing }" };
  expect(() => validateRoute(schema, route)).toThrow("wrong does not match the schema");
});
