import type { Crypto } from "../auth/crypto";
import type { Catalog } from "../catalog/load-catalog";
import type { Listener } from "../database/listener";
import type { Outbound } from "../outbound/http";
import type { Storage } from "./storage";
import type { TextModel } from "./text-model";

/** Who writes the assistants' answers. */
export interface Models {
  /** Asks a vendor. */
  readonly remote: TextModel;
  /** Answers where no credential is given. */
  readonly local: TextModel;
  /** What the server's settings give for each vendor. */
  readonly credentials: Readonly<Record<string, { readonly apiKey?: string; readonly baseUrl?: string }>>;
}

/** What services reach beside the database. */
export interface Ports {
  readonly crypto: Crypto;
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly models: Models;
  /** Reaches addresses that customers chose. */
  readonly outbound: Outbound;
  /** Hears what any server process changed. */
  readonly listener: Pick<Listener, "on" | "onRenewed">;
  /** Address that clients reach the service by, without a slash at its end. */
  readonly publicUrl: () => string;
  /** Drops what this process remembers of a key, at once; the others hear of it. */
  readonly forgetKey: (keyId: string) => void;
}
