import { afterAll, beforeAll } from "@jest/globals";
import { useApp, type RunningApp } from "./app";
import type { Answer, Api } from "./api";
import { place } from "./calls";
import { until } from "./until";
import { FakeVapi, type VapiCreate } from "./vapi";

export const MESSAGES = "/rest/v1/webhooks/vapi/server-messages";
export const COMPLETIONS = "/rest/v1/webhooks/vapi/custom-llm/chat/completions";

/** A call placed at the fake engine, and the requests that the engine can send. */
export interface EngineCall {
  readonly id: string;
  readonly engineCallId: string;
  readonly body: VapiCreate;
  readonly headers: Readonly<Record<string, string>>;
  /** Posts a server message to the address that the engine was given. */
  tell(type: string, more?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Requests a chat completion. */
  ask(messages: readonly object[], more?: object, headers?: Record<string, string>): Promise<Answer>;
}

export interface EngineApp extends RunningApp {
  readonly vapi: FakeVapi;
  /** Places a call and waits until the engine has it. */
  call(assistantId: string, more?: object, phoneNumber?: string): Promise<EngineCall>;
}

/** Starts the service with a fake Vapi, for all tests of a file. */
export function useEngine(env: Record<string, string> = {}): EngineApp {
  const vapi = new FakeVapi();
  const settings: Record<string, string> = {
    WORKER: "on",
    VAPI_API_KEY: "key",
    VAPI_PHONE_NUMBER_ID: "number-1",
    PUBLIC_BASE_URL: "https://parley.example",
    VOICE_ENGINE_TIMEOUT_SECONDS: "1",
    ...env,
  };
  beforeAll(async () => {
    await vapi.start();
    settings.VAPI_BASE_URL = vapi.url;
  });
  const running = useApp(settings);
  afterAll(() => vapi.stop());
  return new Proxy({} as EngineApp, {
    get: (_, name) => {
      if (name === "vapi") return vapi;
      if (name === "call")
        return (assistantId: string, more: object = {}, phoneNumber = "+14155550132") =>
          calling(running.api, vapi, assistantId, phoneNumber, more);
      return running[name as keyof RunningApp];
    },
  });
}

async function calling(
  api: Api,
  vapi: FakeVapi,
  assistantId: string,
  phoneNumber: string,
  more: object,
): Promise<EngineCall> {
  const id = await place(api, assistantId, phoneNumber, more);
  await until(() => vapi.calls.some(({ name }) => name === id));
  return engineCallOf(api, vapi, id);
}

export function engineCallOf(api: Api, vapi: FakeVapi, id: string): EngineCall {
  const { body } = vapi.created.find((one) => one.body.name === id)!;
  const call = { id: vapi.calls.find(({ name }) => name === id)!.id, name: id };
  const { headers } = body.assistant.server;
  const post = (path: string, sent: object, given: Record<string, string> = headers) =>
    api.as({}).request("POST", path, sent, given);
  return {
    id,
    engineCallId: call.id,
    body,
    headers,
    tell: (type, more = {}, given) => post(MESSAGES, { message: { type, call, ...more } }, given),
    ask: (messages, more = {}, given) =>
      post(COMPLETIONS, { model: "GPT_4_O", messages, call, ...more }, given),
  };
}

/** The text and the function calls of a streamed completion. */
export function streamed(text: string) {
  const chunks = text
    .split("\n\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map(
      (line) =>
        JSON.parse(line.slice(6)) as {
          choices: {
            delta: { content?: string; tool_calls?: { function: object }[] };
            finish_reason: string | null;
          }[];
        },
    );
  return {
    content: chunks.map(({ choices }) => choices[0]!.delta.content ?? "").join(""),
    calls: chunks.flatMap(({ choices }) => choices[0]!.delta.tool_calls ?? []).map((call) => call.function),
    finish: chunks.at(-1)?.choices[0]!.finish_reason,
    done: text.endsWith("data: [DONE]\n\n"),
  };
}
