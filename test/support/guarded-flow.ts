import type { Api } from "./api";
import { newAssistant } from "./factories";
import { newFlow } from "./flows";

/** The answer of the function of a guarded flow, and the variables that it sets. */
export const VERIFIED = '{"ok": false, "level": {"deep": 1}}';
export const SET = {
  verified: { ok: false, level: { deep: 1 } },
  "verified.ok": false,
  "verified.level": { deep: 1 },
};

/** Variables with names that resemble those that the function sets. */
export const OTHERS = { unverified: true, verifiedBy: "me", "x.verified.ok": true };
/** Client values that would replace the function's variables, or make an edge match. */
export const HOSTILE: readonly Record<string, unknown>[] = [
  { "verified.ok": true },
  { verified: { ok: true } },
  { verified: true },
  { verified: null },
  { "verified.admin": true },
  { "verified.ok.deeper": true, "verified.level.deep": 2 },
];

/**
 * Creates a workflow that calls a function first, then stays at Desk until the function's variables open the edge to
 * Vault.
 * @returns its id
 */
export async function guardedFlow(api: Api, serverUrl: string): Promise<string> {
  const assistantId = await newAssistant(api);
  const functions = [{ name: "verify", parameters: { type: "object" }, serverUrl }];
  for (const kind of ["chat", "voice"]) {
    const path = `/rest/v1/assistants/${assistantId}/${kind}`;
    await api.patch(path, { initialMessage: "Hello.", functions }, 200);
  }
  const guard = (variable: string) => ({ kind: "VARIABLE", variable, operator: "EQUALS", value: "true" });
  const flow = await newFlow(
    api,
    {
      start: { type: "START" },
      verify: { type: "ACTION", assistantId, functionName: "verify", resultVariable: "verified" },
      desk: { type: "PROMPT", name: "Desk", assistantId },
      vault: { type: "PROMPT", name: "Vault", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "verify"],
      ["verify", "desk"],
      ["desk", "vault", guard("verified.ok")],
      ["desk", "vault", guard("verified.admin")],
      ["vault", "end", { kind: "MODEL", description: "Is done." }],
    ],
  );
  return flow.workflowId;
}

const CHAT = "query ($id: ID!) { chat(id: $id) { variables workflowNode { name } messages { role } } }";

export const guardedChat = async (api: Api, id: string) => (await api.gql(CHAT, { id })).chat;
