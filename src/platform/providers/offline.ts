import { Crypto } from "../crypto";
import { loadCatalog } from "../catalog/load-catalog";
import type { Config } from "../settings/config";
import { localUrl } from "../settings/local-url";
import { BoundedAnswers } from "../outbound/bounds";
import { outbound } from "../outbound/http";
import { childReader } from "./child-reader";
import { openModels } from "./open-models";
import { openRetention } from "./open-retention";
import { openQuotas } from "./open-quotas";
import { explainedStorage } from "./open-storage";
import { openTelephony } from "./open-telephony";
import { openVoice } from "./open-voice";
import type { Ports } from "../ports/ports";
import { McpTools } from "./mcp-tools";
import { threadChecker } from "./thread-checker";

/** Servers find the changes of other processes within a second. */
const NO_NOTIFICATIONS: Ports["listener"] = {
  on: () => () => undefined,
  onRenewed: () => () => undefined,
  send: () => undefined,
  wakeWorkers: () => undefined,
};

/** Ports for processes that serve no requests: the setup of a new database, and the command line. */
export function offlinePorts(config: Config): Ports {
  const reach = outbound(config.OUTBOUND_ALLOW);
  const answers = new BoundedAnswers();
  const catalog = loadCatalog(config.CATALOG_FILE);
  return {
    crypto: new Crypto(config.ENCRYPTION_KEYS ?? [], config.keysFile),
    catalog,
    storage: explainedStorage(config, answers),
    embeddings: undefined,
    reader: childReader(),
    checker: threadChecker(),
    tools: new McpTools(reach.fetch, answers),
    quotas: openQuotas(config),
    outbound: reach,
    models: openModels(config, catalog, reach.fetch, answers),
    voice: openVoice(config, { publicUrl: () => "", ownUrl: () => "" }, answers),
    telephone: openTelephony(config, () => "", answers),
    listener: NO_NOTIFICATIONS,
    publicUrl: () => config.PUBLIC_BASE_URL ?? localUrl(config.HOST, config.PORT),
    retention: openRetention(config),
    jobSlot: () => undefined,
    deliveryRoom: () => undefined,
    forgetKey: () => undefined,
  };
}
