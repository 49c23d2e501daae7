import type * as Anthropic from "@ai-sdk/anthropic";
import type * as Groq from "@ai-sdk/groq";
import type * as OpenAi from "@ai-sdk/openai";
import type * as Compatible from "@ai-sdk/openai-compatible";
import { load } from "./load";
import { pairedCalls } from "./paired-calls";
import {
  ModelFailure,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  type TextModel,
} from "./text-model";

/** What the SDK's vendors have in common. */
type VendorModel = ReturnType<OpenAi.OpenAIProvider["chat"]>;
type VendorRequest = Parameters<VendorModel["doStream"]>[0];
type VendorMessage = VendorRequest["prompt"][number];

/** Asks OpenAI, Groq, Anthropic, or whatever speaks chat completions at a base URL. @param guardedFetch for addresses that customers chose */
export function aiSdkModel(guardedFetch: typeof fetch): TextModel {
  return {
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      try {
        yield* parts(request, guardedFetch);
      } catch (error) {
        const late = request.signal.aborted;
        const message = late ? "The model did not answer in time." : (error as Error).message;
        throw new ModelFailure(message, retryAfter(error), { cause: error });
      }
    },
  };
}

/** The vendors are asked by the interface that the SDK's own functions ask them by: of what those add, a turn needs nothing. */
async function* parts(request: ModelRequest, guardedFetch: typeof fetch): AsyncGenerator<ModelPart> {
  const { stream } = await languageModel(request, guardedFetch).doStream(vendorRequest(request));
  let usable = false;
  for await (const part of stream) {
    if (part.type === "error") throw part.error instanceof Error ? part.error : new Error(String(part.error));
    if (part.type === "text-delta" && part.delta !== "") yield { type: "text", text: part.delta };
    if (part.type === "tool-call")
      yield { type: "call", id: part.toolCallId, name: part.toolName, arguments: parsed(part.input) };
    usable ||= part.type === "text-delta" || part.type === "tool-call";
  }
  if (!usable) throw new Error("The model answered with nothing.");
}

function vendorRequest(request: ModelRequest): VendorRequest {
  const { system, messages, tools, temperature, maxTokens, signal } = request;
  const offered = tools.map(({ name, description, parameters: inputSchema }) => ({
    type: "function" as const,
    name,
    description,
    inputSchema,
  }));
  return {
    prompt: [
      ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
      ...pairedCalls(messages).map(toVendor),
    ],
    ...(offered.length > 0 && { tools: offered, toolChoice: { type: "auto" as const } }),
    temperature,
    maxOutputTokens: maxTokens,
    abortSignal: signal,
  };
}

/** What is no JSON goes to the check of arguments as it is. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input === "" ? "{}" : input);
  } catch {
    return input;
  }
}

/** For how many milliseconds the vendor wants to be left alone. */
function retryAfter(error: unknown): number {
  const { responseHeaders } = error as { responseHeaders?: Record<string, string> };
  const seconds = Number(responseHeaders?.["retry-after"]);
  return seconds > 0 ? seconds * 1_000 : 0;
}

function languageModel({ model, credential }: ModelRequest, guardedFetch: typeof fetch): VendorModel {
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

function toVendor({ role, content, calls = [], answers }: ModelMessage): VendorMessage {
  if (role === "user") return { role, content: [{ type: "text", text: content }] };
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
