/** The fields of the records that an export reads, as GraphQL names them. */

const CHANNEL =
  "initialMessage prompt resources provider model temperature maxTokensOutput functions isRagEnabled forceRag ragTriggerTopics preserveRagResult";
const VOICE =
  "voiceProvider voice backgroundSound backchanneling endCallFunction dialKeypadFunction endCallMessage endCallPhrases";
const MESSAGE_COUNT = "messageCount";

export const ORGANIZATION = "{ organization { id name requireSignedIdentity } }";
/** Read apart, because keys with limits may not read all of it. */
export const SETTINGS = `{
  organization { retention { logsDays recordingsDays eventsDays pending { kind days from } } }
  modelCredentials { id provider baseUrl keyHint updatedAt }
  modelMappings { id model provider baseUrl name keyHint updatedAt } }`;

export const TELEPHONY =
  "id phoneNumber accountSid authTokenHint messagingServiceSid interceptSmsUrl createdAt updatedAt assistants { id }";
export const DEPLOYMENT = `id key type enabled assistantVersion telephonyConnectionId createdAt updatedAt
  project { id } assistant { id } workflow { id }`;
export const WORKFLOW = `id key name description createdAt updatedAt project { id }
  nodes { id type name instructions functionName arguments resultVariable message endReason metadata createdAt updatedAt assistant { id } }
  edges { id fromNodeId toNodeId kind rank description collects variable operator value functionName createdAt updatedAt }`;
export const ASSISTANT = `id key name description variables missingVariables createdAt updatedAt project { id }
  voice { ${CHANNEL} ${VOICE} } sms { ${CHANNEL} smsMode voiceCallMode keywords } chat { ${CHANNEL} chatMode quickRepliesEnabled }
  theme { theme mode allowedOrigins }
  files { id attachedAt status problem passages }
  toolServers { name url headerNames allowedTools }
  version { number note actor createdAt }
  draft { basedOn updatedAt document }`;
export const VERSION = "number note actor createdAt document";
export const PROJECT = "id name description createdAt updatedAt";
export const DESTINATION = "id key url name secret enabled events createdAt updatedAt project { id }";
export const KEY = "id value type status name permissions assistantIds createdAt expiresAt lastUsedAt";
export const FILE = "id name mimeType detectedType size metadata createdAt";
export const END_USER = "uniqueId facts { assistantId text signed createdAt }";

/** An entry of the list of logs, without what the log itself has. */
export const ENTRY = `id type label createdAt status endedReason lengthSeconds assistantId assistantName ${MESSAGE_COUNT}
  chat { endedAt phoneNumber greeting variables assistantVersion versions { id number } draft user { uniqueId } workflowId workflowNodeId deploymentId }`;
export const LOG = "messages metadata customerMetadata recordingUrl";
export const CALL = `id kind createdAt dialedAt answeredAt endedAt endedReason status phoneNumber label recordingUrl
  userName userId anonymousId externalId metadata variables deploymentId workflowId`;
