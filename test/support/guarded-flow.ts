import type { Api } from "./api";
import { newAssistant } from "./factories";
import { newFlow } from "./flows";

/** What the function of a guarded flow answers, and the variables that this becomes. */
export const VERIFIED = '{"ok": false, "level": {"deep": 1}}';
export const SET = {
  verified: { ok: false, level: { deep: 1 } },
  "verified.ok": false,
  "verified.level": { deep: 1 },
};

/** Variables that nobody has set, by names like those that a function has. */
export const OTHERS = { unverified: true, verifiedBy: "me", "x.verified.ok": true };
/** Values from outside that would replace what the function has set, or open an edge. */
export const HOSTILE: readonly Record<string, unknown>[] = [
  { "verified.ok": true },
  { verified: { ok: true } },
  { verified: true },
  { verified: null },
  { "verified.admin": true },
  { "verified.ok.deeper": true, "verified.level.deep": 2 },
];

/** A workflow whose first step calls a function, then stands at Desk until what the function set opens Vault; its id. */
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
