import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { ModelFailure, type FailureKind } from "../../platform/ports/text-model";

/** A model whose latest answer failed. */
interface StoredModelFailure {
  readonly provider: string;
  /** The provider's name for the model. */
  readonly name: string;
  readonly kind: FailureKind;
  /** Time of the latest failure that was stored; ISO 8601. */
  readonly at: string;
}

const FAILED = statement(({ db }) =>
  db.raw(`
  update organizations set model_failures = coalesce(model_failures, '{}') || jsonb_build_object($2::text,
    jsonb_build_object('provider', $3::text, 'name', $4::text, 'kind', $5::text, 'at', now()))
  where organizations.id = $1`),
);

const FORGET = statement(({ db }) =>
  db.raw(`
  update organizations set model_failures = model_failures - $2::text
  where organizations.id = $1 and jsonb_exists(model_failures, $2)`),
);

/** A failure of a model that has not been asked for a day no longer matters. */
const FAILING = statement<StoredModelFailure & { model: string }>(({ db }) =>
  db.raw(`
  select key as model, value ->> 'provider' as provider, value ->> 'name' as name, value ->> 'kind' as kind,
    value ->> 'at' as at
  from organizations, jsonb_each(model_failures)
  where organizations.id = $1 and (value ->> 'at')::timestamptz > now() - interval '1 day' order by key`),
);

/** Meaning and remedy of each kind of failure. */
const KINDS: Readonly<Record<FailureKind, readonly [meaning: string, remedy: string]>> = {
  unreachable: ["cannot be reached", "Start the server of the model, or correct its address"],
  timeout: [
    "does not answer in time",
    "Choose a faster model, or ask the operator to raise MODEL_TIMEOUT_SECONDS",
  ],
  key_refused: ["refuses the key", "Set a valid key with setModelCredential, or ask the operator to"],
  unknown_model: ["does not have this model", "Name another model with setModelMapping"],
  limited: ["refuses further requests: a rate limit, quota or credit is used up", "Raise it at the provider"],
  tools_refused: ["refuses functions", "Choose a model that supports them"],
  refused: ["refuses the requests", "Correct what its error names"],
  unusable: ["gives no usable answers", "Check that the address is that of an OpenAI-compatible API"],
  failed: ["reports an error", "See the provider's status page"],
};

/** Which models of an organization gave no answer the last time they were asked. */
export class ModelFailures {
  constructor(private readonly scope: Scope) {}

  /** @param error errors of this service are not a model's failure */
  async failed(error: unknown): Promise<void> {
    if (!(error instanceof ModelFailure) || !error.request) return;
    const { id, provider, model } = error.request.model;
    if (this.isDue(id, error.kind)) await this.scope.write(FAILED, [id, provider, model, error.kind]);
  }

  /** @param id identifier of a model that has answered */
  async answered(id: string): Promise<void> {
    if (this.isDue(id, "ok")) await this.scope.write(FORGET, [id]);
  }

  /** Forgets a failure at once, because the model was tested or replaced. */
  async forget(id: string): Promise<void> {
    this.scope.ports.models.outcomes.delete(this.keyOf(id));
    await this.scope.write(FORGET, [id]);
  }

  async warnings(): Promise<string[]> {
    return (await this.scope.read(FAILING)).map(({ model, provider, name, kind, at }) => {
      const [meaning, remedy] = KINDS[kind];
      return `${model} gives no answers: ${provider} ${meaning} (model ${name}, ${kind}, last at ${new Date(at).toISOString()}). ${remedy}. testModel shows the provider's error; this warning ends with the next answer.`;
    });
  }

  /** Outcomes are stored when they change, and once in a while, because other servers store theirs. */
  private isDue(id: string, outcome: string): boolean {
    const key = this.keyOf(id);
    const { outcomes } = this.scope.ports.models;
    if (outcomes.get(key) === outcome) return false;
    outcomes.set(key, outcome);
    return true;
  }

  private keyOf(id: string): string {
    return `${this.scope.organizationId} ${id}`;
  }
}
