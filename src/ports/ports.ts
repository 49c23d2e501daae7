import type { Crypto } from "../auth/crypto";
import type { Catalog } from "../catalog/load-catalog";
import type { Listener } from "../database/listener";
import type { Storage } from "./storage";

/** What services reach beside the database. */
export interface Ports {
  readonly crypto: Crypto;
  readonly catalog: Catalog;
  readonly storage: Storage;
  /** Hears what any server process changed. */
  readonly listener: Pick<Listener, "on" | "onRenewed">;
  /** Address that clients reach the service by, without a slash at its end. */
  readonly publicUrl: () => string;
  /** Drops what this process remembers of a key, at once; the others hear of it. */
  readonly forgetKey: (keyId: string) => void;
}
