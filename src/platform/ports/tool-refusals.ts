import type { ModelRequest } from "./text-model";

type Asked = Pick<ModelRequest, "model" | "credential">;

/** Models that recently refused functions (tools), by server and name. */
export interface ToolRefusals {
  has(request: Asked): boolean;
  add(request: Asked): void;
}
