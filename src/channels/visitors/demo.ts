import { Assistants } from "../../assistants/assistants/assistants";
import { Templates } from "../../assistants/configurations/templates";
import type { Scope } from "../../platform/database/scope";
import { Keys } from "../../account/organization/keys";

/** Data for the widget's demo page. */
export interface Demo {
  readonly publicKey: string | null;
  readonly assistantId: string | null;
  readonly assistants: readonly { readonly id: string; readonly name: string }[];
}

const FIRST = { order: "asc", page: 1, take: 20 } as const;

/**
 * A PUBLIC key and assistants of the organization. An untrusted caller learns only the assistant that it names: a
 * PUBLIC key is meant for pages, names of assistants are not.
 * @param trusted whether the caller may see all assistants of the organization
 */
export async function demoOf(scope: Scope, assistantId: string | undefined, trusted: boolean): Promise<Demo> {
  const named = assistantId === undefined ? undefined : await find(scope, assistantId);
  const assistants = trusted ? (await scope.of(Assistants).list(FIRST)).data : named ? [named] : [];
  const known = trusted || named !== undefined;
  return {
    publicKey: known ? await publicKey(scope) : null,
    assistantId: named?.id ?? null,
    assistants: assistants.map(({ id, name }) => ({ id, name })),
  };
}

/** An assistant for the demo: the organization's first, or one created from a template. */
export async function demoAssistant(scope: Scope): Promise<{ id: string }> {
  const [first] = (await scope.of(Assistants).list({ ...FIRST, take: 1 })).data;
  if (first) return { id: first.id };
  const [template] = (await scope.of(Templates).list({ ...FIRST, take: 1 })).data;
  const { id } = await scope.of(Assistants).duplicate(template!.id); // templates are seeded at startup
  return { id };
}

async function find(scope: Scope, id: string) {
  const assistant = await scope
    .of(Assistants)
    .byId(id)
    .catch(() => undefined);
  return assistant?.template ? undefined : assistant;
}

async function publicKey(scope: Scope): Promise<string | null> {
  const key = await scope
    .of(Keys)
    .public({ organizationId: scope.organizationId, kind: "PUBLIC" })
    .catch(() => undefined);
  return key?.value ?? null;
}
