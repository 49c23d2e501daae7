import { z } from "zod";
import { url } from "./setting-kinds";

const key = (name: string) =>
  [
    z.string().min(1).optional(),
    "the local model is used",
    `API key of ${name}. An organization can set its own.`,
  ] as const;
const address = (name: string) =>
  [url("http:", "https:").optional(), "the provider's", `Base URL to use instead of ${name}'s.`] as const;

/** Settings of the models that write the answers. */
export const MODEL_SETTINGS = {
  OPENAI_API_KEY: key("OpenAI"),
  OPENAI_BASE_URL: address("OpenAI"),
  GROQ_API_KEY: key("Groq"),
  GROQ_BASE_URL: address("Groq"),
  ANTHROPIC_API_KEY: key("Anthropic"),
  ANTHROPIC_BASE_URL: address("Anthropic"),
  MODEL_NAME: [
    z.string().min(1).max(200).optional(),
    "none",
    "Model that answers for all identifiers whose provider has no key, by its name at `MODEL_BASE_URL` or `MODEL_PROVIDER`. `npm run connect` sets it.",
  ],
  MODEL_BASE_URL: [
    url("http:", "https:").optional(),
    "none",
    "Base URL of an OpenAI-compatible server with the model `MODEL_NAME`, such as `http://127.0.0.1:11434/v1` for Ollama.",
  ],
  MODEL_API_KEY: [z.string().min(1).optional(), "none", "API key of the server at `MODEL_BASE_URL`."],
  MODEL_PROVIDER: [
    z.string().min(1).optional(),
    "none",
    "Provider of the model `MODEL_NAME`, such as `GROQ`, instead of `MODEL_BASE_URL`.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;

interface Values {
  readonly MODEL_NAME?: string | undefined;
  readonly MODEL_BASE_URL?: string | undefined;
  readonly MODEL_API_KEY?: string | undefined;
  readonly MODEL_PROVIDER?: string | undefined;
}

/** Problems of these settings together. */
export function modelProblems(values: Values): string[] {
  const { MODEL_NAME: name, MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey, MODEL_PROVIDER: by } = values;
  if (baseUrl !== undefined && by !== undefined)
    return ["MODEL_BASE_URL and MODEL_PROVIDER exclude each other: set one of them"];
  if (name !== undefined && baseUrl === undefined && by === undefined)
    return ["MODEL_NAME also needs MODEL_BASE_URL or MODEL_PROVIDER"];
  if (name === undefined && (baseUrl ?? by ?? apiKey) !== undefined)
    return ["MODEL_BASE_URL, MODEL_API_KEY and MODEL_PROVIDER also need MODEL_NAME"];
  if (apiKey !== undefined && baseUrl === undefined)
    return [
      "MODEL_API_KEY also needs MODEL_BASE_URL; set the provider's own key instead, such as GROQ_API_KEY",
    ];
  return [];
}

const VALUE = /_(?:API_KEY|BASE_URL)$/;

/** Variables that may hold keys and addresses of providers that the catalog file adds, such as `MISTRAL_API_KEY`. */
export const providerVariables = (
  env: Readonly<Record<string, string | undefined>>,
  others: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const text = value?.trim();
      return VALUE.test(name) && !others.includes(name) && text ? [[name, text]] : [];
    }),
  );
