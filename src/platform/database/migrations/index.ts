import type { Knex } from "knex";
import * as foundation from "./001-foundation";
import * as conversations from "./002-conversations";
import * as knowledge from "./003-knowledge";
import * as calls from "./004-calls";
import * as workflows from "./005-workflows";
import * as telephony from "./006-telephony";
import * as search from "./007-search";
import * as widget from "./008-widget";
import * as analytics from "./009-analytics";
import * as tries from "./010-tries";
import * as smsAge from "./011-sms-age";
import * as soleJobs from "./012-sole-jobs";
import * as smsOrder from "./013-sms-order";
import * as begunJobs from "./014-begun-jobs";
import * as begunJobsApart from "./015-begun-jobs-apart";
import * as jobDeaths from "./016-job-deaths";
import * as audit from "./017-audit";
import * as fileStore from "./018-file-store";
import * as holds from "./019-holds";
import * as rowSecurity from "./020-row-security";
import * as provenance from "./021-provenance";
import * as eventOrder from "./022-event-order";
import * as limitedKeys from "./023-limited-keys";
import * as smsDelivery from "./024-sms-delivery";
import * as idempotencyClaims from "./025-idempotency-claims";
import * as erasures from "./026-erasures";
import * as retention from "./027-retention";
import * as quotas from "./028-quotas";
import * as smsSentences from "./029-sms-sentences";
import * as longIdentifiers from "./030-long-identifiers";
import * as endUserExports from "./031-exports";
import * as completeAudit from "./032-complete-audit";
import * as providerErasures from "./033-provider-erasures";
import * as listOrder from "./034-list-order";
import * as storedSizes from "./035-stored-sizes";
import * as chatOrder from "./036-chat-order";

/** Every migration, in order. One that has landed is never edited. */
export const migrations: Readonly<Record<string, Knex.Migration>> = {
  "001-foundation": foundation,
  "002-conversations": conversations,
  "003-knowledge": knowledge,
  "004-calls": calls,
  "005-workflows": workflows,
  "006-telephony": telephony,
  "007-search": search,
  "008-widget": widget,
  "009-analytics": analytics,
  "010-tries": tries,
  "011-sms-age": smsAge,
  "012-sole-jobs": soleJobs,
  "013-sms-order": smsOrder,
  "014-begun-jobs": begunJobs,
  "015-begun-jobs-apart": begunJobsApart,
  "016-job-deaths": jobDeaths,
  "017-audit": audit,
  "018-file-store": fileStore,
  "019-holds": holds,
  "020-row-security": rowSecurity,
  "021-provenance": provenance,
  "022-event-order": eventOrder,
  "023-limited-keys": limitedKeys,
  "024-sms-delivery": smsDelivery,
  "025-idempotency-claims": idempotencyClaims,
  "026-erasures": erasures,
  "027-retention": retention,
  "028-quotas": quotas,
  "029-sms-sentences": smsSentences,
  "030-long-identifiers": longIdentifiers,
  "031-exports": endUserExports,
  "032-complete-audit": completeAudit,
  "033-provider-erasures": providerErasures,
  "034-list-order": listOrder,
  "035-stored-sizes": storedSizes,
  "036-chat-order": chatOrder,
};
