import type { Caller } from "../../src/account/auth/caller";
import { authorize, type Rule } from "./authorization";

/** One caller of each kind. */
const EVERY_CALLER: readonly (Caller | undefined)[] = [
  undefined,
  { organizationId: "", kind: "TOKEN", userId: "" },
  ...(["SECRET", "PUBLIC", "TOKEN", "VISITOR", "ANALYTICS", "ANONYMOUS"] as const).map((kind) => ({
    organizationId: "",
    kind,
  })),
];

const allows = (rule: Rule, caller: Caller | undefined): boolean => {
  try {
    authorize(rule, caller);
    return true;
  } catch {
    return false;
  }
};

/** Whether every caller that satisfies one rule also satisfies the other. */
export const implies = (rule: Rule, other: Rule): boolean =>
  EVERY_CALLER.every((caller) => !allows(rule, caller) || allows(other, caller));
