import { describe, expect, test } from "@jest/globals";
import pino from "pino";
import type { ModelSource } from "../../src/platform/catalog/load-catalog";
import { modelFailure } from "../../src/platform/providers/provider-error";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import { talk } from "../support/talk";

/** Lines of the server's log. */
const lines: string[] = [];
const logger = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" }, logger);

interface Log {
  readonly metadata: { readonly errors: readonly { readonly message: string }[] };
}

describe("a model that the provider does not have", () => {
  test.each([
    ["OpenAI and vLLM", 404, { message: "The model `gpt-4o` does not exist", code: "model_not_found" }],
    ["Groq", 400, { message: "The model `gpt-4o` has been decommissioned", code: "model_decommissioned" }],
    ["Ollama", 404, { message: 'model "gpt-4o" not found, try pulling it first', type: "api_error" }],
    ["Anthropic", 404, { message: "model: gpt-4o", type: "not_found_error" }],
  ])("as %s say, is named in the log with its identifier and the remedy", async (_who, status, error) => {
    const { model, say, log, answered } = await talk(running, [{ status, error }], {
      configuration: { model: "GPT_4_O" },
    });
    afterTest(() => answered().then(model.stop));
    await say("When do you open?");
    expect(model.asked).toHaveLength(1);
    const [entry] = ((await log()) as unknown as Log).metadata.errors;
    expect(entry!.message).toContain('OPENAI does not know the model "gpt-4o", which GPT_4_O stands for.');
    expect(entry!.message).toContain("CATALOG_FILE");
    expect(entry!.message).toContain(error.message);
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const about = { identifier: "GPT_4_O", model: "gpt-4o", provider: "OPENAI", reason: entry!.message };
    expect(logged).toContainEqual(expect.objectContaining({ level: 50, ...about }));
  });

  test.each<[ModelSource | undefined, string]>([
    [undefined, "The built-in catalog names it."],
    ["setModelMapping", "A mapping names it: name another model for GPT_4_O with setModelMapping"],
    ["MODEL_NAME", "MODEL_NAME names it, in the environment or in .env"],
    ["CATALOG_FILE", "CATALOG_FILE names it"],
    ["--model", "Name another model with --model."],
  ])("is to be renamed where it was named: %s", (namedBy, remedy) => {
    const model = { id: "GPT_4_O", provider: "OPENAI", model: "gpt-4o", ...(namedBy && { namedBy }) };
    const error = { statusCode: 404, error: { message: "No such model.", code: "model_not_found" } };
    expect(modelFailure(error, false, model).message).toContain(remedy);
  });

  test.each([
    ["a wrong path", { statusCode: 404, message: "Not Found" }],
    ["a wrong key", { statusCode: 401, error: { message: "Incorrect API key for the model provided" } }],
  ])("is not assumed after %s", (_what, error) => {
    const model = { id: "GPT_4_O", provider: "OPENAI", model: "gpt-4o" };
    expect(modelFailure(error, false, model).kind).not.toBe("unknown_model");
  });
});
