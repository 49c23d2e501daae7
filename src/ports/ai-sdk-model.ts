import type * as Anthropic from "@ai-sdk/anthropic";
import type * as Groq from "@ai-sdk/groq";
import type * as OpenAi from "@ai-sdk/openai";
import type * as Compatible from "@ai-sdk/openai-compatible";
import type * as Ai from "ai";
import type { LanguageModel, ModelMessage as SdkMessage, ToolSet } from "ai";
import { load } from "./load";
import {
  ModelFailure,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  type TextModel,
} from "./text-model";

/** Asks OpenAI, Groq, Anthropic, or whatever speaks chat completions at a base URL. @param guardedFetch for addresses that customers chose */
export function aiSdkModel(guardedFetch: typeof fetch): TextModel {
  return {
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      try {
        yield* parts(request, guardedFetch);
      } catch (error) {
        throw new ModelFailure((error as Error).message, { cause: error });
      }
    },
  };
}

async function* parts(request: ModelRequest, guardedFetch: typeof fetch): AsyncGenerator<ModelPart> {
  const { jsonSchema, streamText, tool } = load<typeof Ai>("ai");
  const tools: ToolSet = Object.fromEntries(
    request.tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
  const { fullStream } = streamText({
    model: languageModel(request, guardedFetch),
    system: request.system,
    messages: request.messages.map(toSdk),
    ...(request.tools.length > 0 && { tools }),
    temperature: request.temperature,
    maxOutputTokens: request.maxTokens,
    maxRetries: 0,
    abortSignal: request.signal,
    onError: () => undefined, // the stream says it too; the default writes to the console
  });
  let usable = false;
  for await (const part of fullStream) {
    if (part.type === "error") throw part.error instanceof Error ? part.error : new Error(String(part.error));
    if (part.type === "abort") throw new Error("The model did not answer in time.");
    if (part.type === "text-delta" && part.text !== "") yield { type: "text", text: part.text };
    if (part.type === "tool-call")
      yield { type: "call", id: part.toolCallId, name: part.toolName, arguments: part.input };
    usable ||= part.type === "text-delta" || part.type === "tool-call";
  }
  if (!usable) throw new Error("The model answered with nothing.");
}

function languageModel({ model, credential }: ModelRequest, guardedFetch: typeof fetch): LanguageModel {
  const { apiKey = "none", baseUrl: baseURL, guarded } = credential!; // without one the local model is asked
  const options = {
    apiKey,
    ...(baseURL !== undefined && { baseURL }),
    ...(guarded && { fetch: guardedFetch }),
  };
  switch (model.baseUrl === undefined ? model.provider : "COMPATIBLE") {
    case "OPENAI":
      return load<typeof OpenAi>("@ai-sdk/openai").createOpenAI(options).chat(model.model);
    case "GROQ":
      return load<typeof Groq>("@ai-sdk/groq").createGroq(options)(model.model);
    case "ANTHROPIC":
      return load<typeof Anthropic>("@ai-sdk/anthropic").createAnthropic(options)(model.model);
    default: {
      const { createOpenAICompatible } = load<typeof Compatible>("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...options,
        baseURL: baseURL ?? "",
        name: model.provider.toLowerCase(),
      }).chatModel(model.model);
    }
  }
}

function toSdk({ role, content, calls = [], answers }: ModelMessage): SdkMessage {
  if (role === "user") return { role, content };
  if (role === "tool") {
    const output = { type: "text" as const, value: content };
    return {
      role,
      content: [{ type: "tool-result", toolCallId: answers!.id, toolName: answers!.name, output }],
    };
  }
  const text = content === "" ? [] : [{ type: "text" as const, text: content }];
  return {
    role,
    content: [
      ...text,
      ...calls.map((call) => ({
        type: "tool-call" as const,
        toolCallId: call.id,
        toolName: call.name,
        input: call.arguments,
      })),
    ],
  };
}
