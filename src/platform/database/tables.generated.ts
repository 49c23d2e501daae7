// Generated from the migrated database by `npm run rows`. A test compares it with the database.
import type { Column, Defaulted, Nullable } from "./column";

/** Columns of every table and view, as JavaScript reads their values. */
export interface Tables {
  api_keys: {
    organizationId: Column<string>;
    id: Column<string>;
    type: Column<"SECRET" | "PUBLIC">;
    status: Column<"ACTIVE" | "INACTIVE">;
    sealedValue: Column<string>;
    createdAt: Defaulted<Date>;
    lastUsedAt: Nullable<Date>;
    name: Nullable<string>;
    expiresAt: Nullable<Date>;
    permissions: Nullable<unknown>;
    assistantIds: Nullable<unknown>;
  };
  assistant_files: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    fileId: Column<string>;
    status: Defaulted<"PENDING" | "READY" | "FAILED">;
    problem: Nullable<string>;
    createdAt: Defaulted<Date>;
    passages: Defaulted<number>;
  };
  assistants: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: Nullable<string>;
    variables: Nullable<unknown>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
    deletedAt: Nullable<Date>;
    projectId: Nullable<string>;
  };
  audit_events: {
    organizationId: Column<string>;
    position: Column<string>;
    id: Column<string>;
    kind: Column<string>;
    actor: Column<string>;
    keyId: Nullable<string>;
    person: Nullable<string>;
    address: Nullable<string>;
    interface: Column<string>;
    requestId: Nullable<string>;
    operation: Column<string>;
    recordType: Column<string>;
    recordId: Nullable<string>;
    fields: Column<unknown>;
    createdAt: Column<Date>;
    previousHash: Column<string>;
    hash: Column<string>;
  };
  audit_heads: {
    organizationId: Column<string>;
    position: Column<string>;
    hash: Column<string>;
  };
  audit_outbox: {
    organizationId: Column<string>;
    id: Column<string>;
    entry: Column<unknown>;
    createdAt: Defaulted<Date>;
  };
  begun_jobs: {
    id: Defaulted<string>;
    task: Column<string>;
    payload: Column<unknown>;
    worker: Column<string>;
    begunAt: Defaulted<Date>;
  };
  call_lookup: {
    lookup: Column<string>;
    organizationId: Column<string>;
    chatId: Column<string>;
  };
  calls: {
    organizationId: Column<string>;
    chatId: Column<string>;
    kind: Column<"PHONE" | "WEB">;
    workflowId: Nullable<string>;
    deploymentId: Nullable<string>;
    engine: Column<string>;
    line: Nullable<string>;
    sealedSecret: Column<string>;
    engineCallId: Nullable<string>;
    dialAttempts: Defaulted<number>;
    dialingSince: Nullable<Date>;
    askedAt: Nullable<Date>;
    dialedAt: Nullable<Date>;
    answeredAt: Nullable<Date>;
    heardAt: Nullable<Date>;
    transcribed: Defaulted<boolean>;
    spoken: Defaulted<unknown>;
    createdAt: Defaulted<Date>;
  };
  chat_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: Defaulted<string>;
    prompt: Defaulted<string>;
    resources: Defaulted<string>;
    provider: Defaulted<string>;
    model: Defaulted<string>;
    temperature: Defaulted<number>;
    maxTokensOutput: Defaulted<number>;
    functions: Defaulted<unknown>;
    isRagEnabled: Defaulted<boolean>;
    forceRag: Defaulted<boolean>;
    ragTriggerTopics: Defaulted<string>;
    preserveRagResult: Defaulted<boolean>;
    updatedAt: Defaulted<Date>;
    chatMode: Defaulted<boolean>;
    quickRepliesEnabled: Defaulted<boolean>;
  };
  chats: {
    organizationId: Column<string>;
    id: Column<string>;
    assistantId: Column<string>;
    channel: Column<"VOICE" | "TEXT" | "SMS">;
    status: Column<"queued" | "ringing" | "in-progress" | "forwarding" | "ended">;
    statusEventId: Column<string>;
    label: Nullable<string>;
    firstWords: Nullable<string>;
    phoneNumber: Nullable<string>;
    userId: Nullable<string>;
    uniqueId: Nullable<string>;
    variables: Defaulted<unknown>;
    metadata: Defaulted<unknown>;
    recordingUrl: Nullable<string>;
    messageCount: Defaulted<number>;
    startedAt: Defaulted<Date>;
    lastMessageAt: Defaulted<Date>;
    endedAt: Nullable<Date>;
    endedReason: Nullable<string>;
    errors: Defaulted<unknown>;
    notes: Defaulted<unknown>;
    answeredSequence: Defaulted<number>;
    userName: Nullable<string>;
    anonymousId: Nullable<string>;
    externalId: Nullable<string>;
    workflowId: Nullable<string>;
    deploymentId: Nullable<string>;
    workflowNodeId: Nullable<string>;
    ending: Nullable<string>;
    visitorId: Nullable<string>;
    identityProven: Defaulted<boolean>;
    counted: Defaulted<boolean>;
    setVariables: Nullable<unknown>;
    eventCount: Defaulted<number>;
    statusPlaces: Defaulted<unknown>;
  };
  conversation_facts: {
    organizationId: Nullable<string>;
    chatId: Nullable<string>;
    assistantId: Nullable<string>;
    channel: Nullable<string>;
    startedAt: Nullable<Date>;
    endedReason: Nullable<string>;
    seconds: Nullable<number>;
    messages: Nullable<number>;
    questions: Nullable<number>;
    answers: Nullable<number>;
    answerMs: Nullable<string>;
    answerTimes: Nullable<number[]>;
    notKnown: Nullable<number>;
    errors: Nullable<number>;
    noAnswer: Nullable<number>;
  };
  conversation_facts_computed: {
    organizationId: Nullable<string>;
    chatId: Nullable<string>;
    assistantId: Nullable<string>;
    channel: Nullable<string>;
    startedAt: Nullable<Date>;
    endedReason: Nullable<string>;
    seconds: Nullable<number>;
    messages: Nullable<number>;
    questions: Nullable<number>;
    answers: Nullable<number>;
    answerMs: Nullable<string>;
    answerTimes: Nullable<number[]>;
    notKnown: Nullable<number>;
    errors: Nullable<number>;
    noAnswer: Nullable<number>;
    counted: Nullable<boolean>;
  };
  conversation_facts_kept: {
    organizationId: Column<string>;
    chatId: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    endedReason: Nullable<string>;
    seconds: Nullable<number>;
    messages: Column<number>;
    questions: Column<number>;
    answers: Column<number>;
    answerMs: Column<string>;
    answerTimes: Column<number[]>;
    notKnown: Column<number>;
    errors: Column<number>;
    noAnswer: Column<number>;
  };
  deliveries: {
    organizationId: Column<string>;
    id: Column<string>;
    eventId: Column<string>;
    destinationId: Column<string>;
    chatId: Nullable<string>;
    status: Defaulted<"PENDING" | "DELIVERED" | "FAILED">;
    attempt: Defaulted<number>;
    claimedUntil: Nullable<Date>;
    nextAttemptAt: Defaulted<Date>;
    attempts: Defaulted<unknown>;
    createdAt: Defaulted<Date>;
    durationMs: Nullable<number>;
    chatSequence: Defaulted<number>;
  };
  deployments: {
    organizationId: Column<string>;
    id: Column<string>;
    type: Column<"TEXT_IFRAME" | "TEXT_BUBBLE" | "VOICE_BUBBLE" | "VOICE_IFRAME" | "SMS" | "PHONE_OUTBOUND" | "PHONE_INBOUND" | "API">;
    enabled: Defaulted<boolean>;
    projectId: Nullable<string>;
    assistantId: Nullable<string>;
    workflowId: Nullable<string>;
    telephonyConnectionId: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  end_user_exports: {
    organizationId: Column<string>;
    id: Column<string>;
    subject: Column<"UNIQUE_ID" | "USER_ID" | "ANONYMOUS_ID" | "PHONE_NUMBER">;
    digest: Column<string>;
    sealedTarget: Nullable<string>;
    status: Defaulted<"PENDING" | "RUNNING" | "DONE" | "FAILED" | "EXPIRED" | "WITHDRAWN">;
    problem: Nullable<string>;
    attempt: Defaulted<number>;
    chatIds: Defaulted<string[]>;
    archiveId: Nullable<string>;
    size: Defaulted<string>;
    chats: Defaulted<number>;
    messages: Defaulted<number>;
    events: Defaulted<number>;
    files: Defaulted<number>;
    recordings: Defaulted<number>;
    absent: Defaulted<number>;
    requestedAt: Defaulted<Date>;
    finishedAt: Nullable<Date>;
    expiresAt: Nullable<Date>;
  };
  end_users: {
    organizationId: Column<string>;
    id: Column<string>;
    assistantId: Column<string>;
    uniqueId: Column<string>;
    facts: Defaulted<unknown>;
    context: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
    contextVisitorId: Nullable<string>;
    signedContext: Nullable<string>;
    signedContextVisitorId: Nullable<string>;
    contextChatId: Nullable<string>;
    signedContextChatId: Nullable<string>;
  };
  engine_callbacks: {
    organizationId: Column<string>;
    chatId: Column<string>;
    digest: Column<string>;
    answer: Nullable<unknown>;
    createdAt: Defaulted<Date>;
  };
  erasures: {
    organizationId: Column<string>;
    id: Column<string>;
    subject: Column<"UNIQUE_ID" | "USER_ID" | "ANONYMOUS_ID" | "PHONE_NUMBER" | "LOGS">;
    digest: Nullable<string>;
    sealedTarget: Nullable<string>;
    status: Defaulted<"PENDING" | "RUNNING" | "DONE">;
    until: Defaulted<Date>;
    matched: Defaulted<number>;
    chats: Defaulted<number>;
    messages: Defaulted<number>;
    events: Defaulted<number>;
    recordings: Defaulted<number>;
    texts: Defaulted<number>;
    facts: Defaulted<number>;
    contexts: Defaulted<number>;
    files: Defaulted<number>;
    requestedAt: Defaulted<Date>;
    workedAt: Defaulted<Date>;
    finishedAt: Nullable<Date>;
    exports: Defaulted<number>;
    textsKept: Defaulted<number>;
    callsKept: Defaulted<number>;
  };
  events: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    type: Column<string>;
    assistantId: Column<string>;
    chatId: Nullable<string>;
    body: Column<string>;
    transaction: Nullable<string>;
    createdAt: Defaulted<Date>;
    chatSequence: Defaulted<number>;
  };
  file_store: {
    one: Defaulted<boolean>;
    id: Column<string>;
  };
  files: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    mimeType: Column<string>;
    detectedType: Column<string>;
    size: Column<string>;
    metadata: Defaulted<unknown>;
    createdAt: Defaulted<Date>;
  };
  function_facts: {
    organizationId: Nullable<string>;
    chatId: Nullable<string>;
    name: Nullable<string>;
    assistantId: Nullable<string>;
    channel: Nullable<string>;
    startedAt: Nullable<Date>;
    calls: Nullable<number>;
    failed: Nullable<number>;
  };
  function_facts_computed: {
    organizationId: Nullable<string>;
    chatId: Nullable<string>;
    name: Nullable<string>;
    assistantId: Nullable<string>;
    channel: Nullable<string>;
    startedAt: Nullable<Date>;
    calls: Nullable<number>;
    failed: Nullable<number>;
    counted: Nullable<boolean>;
  };
  function_facts_kept: {
    organizationId: Column<string>;
    chatId: Column<string>;
    name: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    calls: Column<number>;
    failed: Column<number>;
  };
  holds: {
    id: Column<string>;
    reason: Column<"RESTORED" | "MOVED">;
    note: Column<string>;
    since: Defaulted<Date>;
    finishedAt: Nullable<Date>;
    releasedAt: Nullable<Date>;
  };
  idempotency_claims: {
    organizationId: Column<string>;
    key: Column<string>;
    claim: Column<string>;
    requestHash: Column<string>;
    claimedAt: Defaulted<Date>;
  };
  idempotency_keys: {
    organizationId: Column<string>;
    key: Column<string>;
    requestHash: Column<string>;
    status: Column<number>;
    sealedBody: Column<string>;
    createdAt: Defaulted<Date>;
    disclosed: Nullable<unknown>;
  };
  job_deaths: {
    jobId: Column<string>;
    deaths: Column<number>;
  };
  key_lookup: {
    lookup: Column<string>;
    organizationId: Column<string>;
    keyId: Column<string>;
  };
  ledger_heads: {
    organizationId: Column<string>;
    position: Column<string>;
  };
  messages: {
    organizationId: Column<string>;
    id: Column<string>;
    chatId: Column<string>;
    sequence: Column<number>;
    role: Column<"ASSISTANT" | "TOOL" | "USER" | "SYSTEM">;
    channel: Column<"VOICE" | "TEXT" | "SMS">;
    content: Nullable<string>;
    metadata: Defaulted<unknown>;
    toolCallId: Nullable<string>;
    toolCalls: Nullable<unknown>;
    createdAt: Defaulted<Date>;
    assistantId: Column<string>;
    clientId: Nullable<string>;
  };
  model_credentials: {
    organizationId: Column<string>;
    id: Column<string>;
    provider: Column<string>;
    sealedKey: Nullable<string>;
    baseUrl: Nullable<string>;
    updatedAt: Defaulted<Date>;
  };
  model_mappings: {
    organizationId: Column<string>;
    id: Column<string>;
    model: Column<string>;
    name: Column<string>;
    provider: Nullable<string>;
    baseUrl: Nullable<string>;
    sealedKey: Nullable<string>;
    updatedAt: Defaulted<Date>;
  };
  organizations: {
    id: Column<string>;
    name: Column<string>;
    isDefault: Defaulted<boolean>;
    createdAt: Defaulted<Date>;
    requireSignedIdentity: Defaulted<boolean>;
    sealedIdentitySecret: Nullable<string>;
    sealedErasureKey: Nullable<string>;
  };
  passages: {
    organizationId: Column<string>;
    id: Column<string>;
    fileId: Nullable<string>;
    ordinal: Column<number>;
    content: Column<string>;
    words: Defaulted<string>;
    page: Nullable<number>;
    assistantId: Nullable<string>;
    language: Nullable<string>;
    terms: Nullable<string>;
  };
  projects: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  provider_erasures: {
    organizationId: Column<string>;
    id: Column<string>;
    erasureId: Nullable<string>;
    kind: Column<"TEXTS" | "CALL">;
    sealedTarget: Column<string>;
    createdAt: Defaulted<Date>;
  };
  question_outcomes: {
    organizationId: Nullable<string>;
    id: Nullable<string>;
    chatId: Nullable<string>;
    assistantId: Nullable<string>;
    channel: Nullable<string>;
    startedAt: Nullable<Date>;
    question: Nullable<string>;
    askedAt: Nullable<Date>;
    answer: Nullable<string>;
    answerMs: Nullable<string>;
    outcome: Nullable<string>;
  };
  retentions: {
    organizationId: Column<string>;
    kind: Column<"LOGS" | "RECORDINGS" | "EVENTS">;
    chosenDays: Nullable<number>;
    heldDays: Nullable<number>;
    toldDays: Nullable<number>;
    toldAt: Nullable<Date>;
  };
  sms_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: Defaulted<string>;
    prompt: Defaulted<string>;
    resources: Defaulted<string>;
    provider: Defaulted<string>;
    model: Defaulted<string>;
    temperature: Defaulted<number>;
    maxTokensOutput: Defaulted<number>;
    functions: Defaulted<unknown>;
    isRagEnabled: Defaulted<boolean>;
    forceRag: Defaulted<boolean>;
    ragTriggerTopics: Defaulted<string>;
    preserveRagResult: Defaulted<boolean>;
    updatedAt: Defaulted<Date>;
    smsMode: Defaulted<boolean>;
    voiceCallMode: Defaulted<boolean>;
    keywords: Defaulted<string>;
  };
  sms_contacts: {
    organizationId: Column<string>;
    ownNumber: Column<string>;
    phoneNumber: Column<string>;
    optedOutAt: Nullable<Date>;
    answers: Defaulted<unknown>;
    updatedAt: Defaulted<Date>;
  };
  sms_received: {
    organizationId: Column<string>;
    messageSid: Column<string>;
    connectionId: Column<string>;
    chatId: Nullable<string>;
    sequence: Nullable<number>;
    sms: Column<unknown>;
    outcome: Nullable<string>;
    answer: Nullable<unknown>;
    waitsUntil: Nullable<Date>;
    createdAt: Defaulted<Date>;
  };
  sms_sent: {
    organizationId: Column<string>;
    id: Column<string>;
    chatId: Nullable<string>;
    via: Column<"TWIML" | "API">;
    body: Column<string>;
    attempts: Defaulted<number>;
    askedAt: Nullable<Date>;
    sentAt: Nullable<Date>;
    messageSid: Nullable<string>;
    problem: Nullable<string>;
    createdAt: Defaulted<Date>;
    messageId: Nullable<string>;
    delivery: Nullable<string>;
    deliveryError: Nullable<string>;
    connectionId: Nullable<string>;
    phoneNumber: Nullable<string>;
  };
  sms_threads: {
    organizationId: Column<string>;
    chatId: Column<string>;
    connectionId: Column<string>;
    assistantId: Column<string>;
    phoneNumber: Column<string>;
    sentSequence: Defaulted<number>;
  };
  sole_jobs: {
    name: Column<string>;
    jobId: Column<string>;
    attempt: Column<number>;
    again: Defaulted<boolean>;
  };
  stored_sizes: {
    organizationId: Column<string>;
    bytes: Defaulted<string>;
    grown: Defaulted<string>;
    walk: Nullable<unknown>;
    measuredAt: Nullable<Date>;
  };
  telephony_assistants: {
    organizationId: Column<string>;
    connectionId: Column<string>;
    assistantId: Column<string>;
    position: Column<number>;
  };
  telephony_connections: {
    organizationId: Column<string>;
    id: Column<string>;
    phoneNumber: Column<string>;
    accountSid: Column<string>;
    sealedToken: Column<string>;
    messagingServiceSid: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  telephony_lookup: {
    phoneNumber: Column<string>;
    organizationId: Column<string>;
    connectionId: Column<string>;
  };
  templates: {
    id: Column<string>;
    name: Column<string>;
    description: Nullable<string>;
    variables: Nullable<unknown>;
    voice: Column<unknown>;
    sms: Column<unknown>;
    chat: Column<unknown>;
    theme: Column<unknown>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  theme_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    theme: Defaulted<unknown>;
    mode: Defaulted<"CHAT_ONLY" | "VOICE_ONLY" | "VOICE_AND_CHAT">;
    updatedAt: Defaulted<Date>;
    allowedOrigins: Defaulted<unknown>;
  };
  voice_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: Defaulted<string>;
    prompt: Defaulted<string>;
    resources: Defaulted<string>;
    provider: Defaulted<string>;
    model: Defaulted<string>;
    temperature: Defaulted<number>;
    maxTokensOutput: Defaulted<number>;
    functions: Defaulted<unknown>;
    isRagEnabled: Defaulted<boolean>;
    forceRag: Defaulted<boolean>;
    ragTriggerTopics: Defaulted<string>;
    preserveRagResult: Defaulted<boolean>;
    updatedAt: Defaulted<Date>;
    voiceProvider: Defaulted<string>;
    voice: Defaulted<string>;
    backgroundSound: Defaulted<"DEFAULT" | "OFF" | "OFFICE">;
    backchanneling: Defaulted<boolean>;
    endCallFunction: Defaulted<boolean>;
    dialKeypadFunction: Defaulted<boolean>;
    endCallMessage: Defaulted<string>;
    endCallPhrases: Defaulted<string>;
  };
  webhook_destinations: {
    organizationId: Column<string>;
    id: Column<string>;
    url: Column<string>;
    name: Nullable<string>;
    sealedSecret: Column<string>;
    enabled: Defaulted<boolean>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
    projectId: Nullable<string>;
    failures: Defaulted<number>;
    failingSince: Nullable<Date>;
    timedOut: Defaulted<boolean>;
    formerSealedSecret: Nullable<string>;
    formerSecretUntil: Nullable<Date>;
  };
  worker_heartbeats: {
    workerId: Column<string>;
    seenAt: Defaulted<Date>;
  };
  workflow_edges: {
    organizationId: Column<string>;
    workflowId: Column<string>;
    id: Column<string>;
    fromNodeId: Column<string>;
    toNodeId: Column<string>;
    kind: Column<"DEFAULT" | "MODEL" | "VARIABLE" | "FUNCTION">;
    rank: Defaulted<number>;
    description: Nullable<string>;
    collects: Defaulted<unknown>;
    variable: Nullable<string>;
    operator: Nullable<"EQUALS" | "NOT_EQUALS" | "CONTAINS" | "GREATER" | "LESS" | "IS_SET" | "IS_NOT_SET">;
    value: Nullable<string>;
    functionName: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  workflow_nodes: {
    organizationId: Column<string>;
    workflowId: Column<string>;
    id: Column<string>;
    type: Column<"START" | "END" | "PROMPT" | "ACTION" | "CONDITION">;
    name: Column<string>;
    assistantId: Nullable<string>;
    instructions: Nullable<string>;
    functionName: Nullable<string>;
    arguments: Defaulted<unknown>;
    resultVariable: Nullable<string>;
    message: Nullable<string>;
    endReason: Nullable<string>;
    metadata: Defaulted<unknown>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
  workflows: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: Nullable<string>;
    projectId: Nullable<string>;
    createdAt: Defaulted<Date>;
    updatedAt: Defaulted<Date>;
  };
}

/** Names of the columns of every table and view. */
export const COLUMNS: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
  api_keys: ["organizationId", "id", "type", "status", "sealedValue", "createdAt", "lastUsedAt", "name", "expiresAt", "permissions", "assistantIds"],
  assistant_files: ["organizationId", "assistantId", "fileId", "status", "problem", "createdAt", "passages"],
  assistants: ["organizationId", "id", "name", "description", "variables", "createdAt", "updatedAt", "deletedAt", "projectId"],
  audit_events: ["organizationId", "position", "id", "kind", "actor", "keyId", "person", "address", "interface", "requestId", "operation", "recordType", "recordId", "fields", "createdAt", "previousHash", "hash"],
  audit_heads: ["organizationId", "position", "hash"],
  audit_outbox: ["organizationId", "id", "entry", "createdAt"],
  begun_jobs: ["id", "task", "payload", "worker", "begunAt"],
  call_lookup: ["lookup", "organizationId", "chatId"],
  calls: ["organizationId", "chatId", "kind", "workflowId", "deploymentId", "engine", "line", "sealedSecret", "engineCallId", "dialAttempts", "dialingSince", "askedAt", "dialedAt", "answeredAt", "heardAt", "transcribed", "spoken", "createdAt"],
  chat_configurations: ["organizationId", "assistantId", "initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput", "functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "updatedAt", "chatMode", "quickRepliesEnabled"],
  chats: ["organizationId", "id", "assistantId", "channel", "status", "statusEventId", "label", "firstWords", "phoneNumber", "userId", "uniqueId", "variables", "metadata", "recordingUrl", "messageCount", "startedAt", "lastMessageAt", "endedAt", "endedReason", "errors", "notes", "answeredSequence", "userName", "anonymousId", "externalId", "workflowId", "deploymentId", "workflowNodeId", "ending", "visitorId", "identityProven", "counted", "setVariables", "eventCount", "statusPlaces"],
  conversation_facts: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_facts_computed: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer", "counted"],
  conversation_facts_kept: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  deliveries: ["organizationId", "id", "eventId", "destinationId", "chatId", "status", "attempt", "claimedUntil", "nextAttemptAt", "attempts", "createdAt", "durationMs", "chatSequence"],
  deployments: ["organizationId", "id", "type", "enabled", "projectId", "assistantId", "workflowId", "telephonyConnectionId", "createdAt", "updatedAt"],
  end_user_exports: ["organizationId", "id", "subject", "digest", "sealedTarget", "status", "problem", "attempt", "chatIds", "archiveId", "size", "chats", "messages", "events", "files", "recordings", "absent", "requestedAt", "finishedAt", "expiresAt"],
  end_users: ["organizationId", "id", "assistantId", "uniqueId", "facts", "context", "createdAt", "updatedAt", "contextVisitorId", "signedContext", "signedContextVisitorId", "contextChatId", "signedContextChatId"],
  engine_callbacks: ["organizationId", "chatId", "digest", "answer", "createdAt"],
  erasures: ["organizationId", "id", "subject", "digest", "sealedTarget", "status", "until", "matched", "chats", "messages", "events", "recordings", "texts", "facts", "contexts", "files", "requestedAt", "workedAt", "finishedAt", "exports", "textsKept", "callsKept"],
  events: ["organizationId", "id", "name", "type", "assistantId", "chatId", "body", "transaction", "createdAt", "chatSequence"],
  file_store: ["one", "id"],
  files: ["organizationId", "id", "name", "mimeType", "detectedType", "size", "metadata", "createdAt"],
  function_facts: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_facts_computed: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed", "counted"],
  function_facts_kept: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  holds: ["id", "reason", "note", "since", "finishedAt", "releasedAt"],
  idempotency_claims: ["organizationId", "key", "claim", "requestHash", "claimedAt"],
  idempotency_keys: ["organizationId", "key", "requestHash", "status", "sealedBody", "createdAt", "disclosed"],
  job_deaths: ["jobId", "deaths"],
  key_lookup: ["lookup", "organizationId", "keyId"],
  ledger_heads: ["organizationId", "position"],
  messages: ["organizationId", "id", "chatId", "sequence", "role", "channel", "content", "metadata", "toolCallId", "toolCalls", "createdAt", "assistantId", "clientId"],
  model_credentials: ["organizationId", "id", "provider", "sealedKey", "baseUrl", "updatedAt"],
  model_mappings: ["organizationId", "id", "model", "name", "provider", "baseUrl", "sealedKey", "updatedAt"],
  organizations: ["id", "name", "isDefault", "createdAt", "requireSignedIdentity", "sealedIdentitySecret", "sealedErasureKey"],
  passages: ["organizationId", "id", "fileId", "ordinal", "content", "words", "page", "assistantId", "language", "terms"],
  projects: ["organizationId", "id", "name", "description", "createdAt", "updatedAt"],
  provider_erasures: ["organizationId", "id", "erasureId", "kind", "sealedTarget", "createdAt"],
  question_outcomes: ["organizationId", "id", "chatId", "assistantId", "channel", "startedAt", "question", "askedAt", "answer", "answerMs", "outcome"],
  retentions: ["organizationId", "kind", "chosenDays", "heldDays", "toldDays", "toldAt"],
  sms_configurations: ["organizationId", "assistantId", "initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput", "functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "updatedAt", "smsMode", "voiceCallMode", "keywords"],
  sms_contacts: ["organizationId", "ownNumber", "phoneNumber", "optedOutAt", "answers", "updatedAt"],
  sms_received: ["organizationId", "messageSid", "connectionId", "chatId", "sequence", "sms", "outcome", "answer", "waitsUntil", "createdAt"],
  sms_sent: ["organizationId", "id", "chatId", "via", "body", "attempts", "askedAt", "sentAt", "messageSid", "problem", "createdAt", "messageId", "delivery", "deliveryError", "connectionId", "phoneNumber"],
  sms_threads: ["organizationId", "chatId", "connectionId", "assistantId", "phoneNumber", "sentSequence"],
  sole_jobs: ["name", "jobId", "attempt", "again"],
  stored_sizes: ["organizationId", "bytes", "grown", "walk", "measuredAt"],
  telephony_assistants: ["organizationId", "connectionId", "assistantId", "position"],
  telephony_connections: ["organizationId", "id", "phoneNumber", "accountSid", "sealedToken", "messagingServiceSid", "createdAt", "updatedAt"],
  telephony_lookup: ["phoneNumber", "organizationId", "connectionId"],
  templates: ["id", "name", "description", "variables", "voice", "sms", "chat", "theme", "createdAt", "updatedAt"],
  theme_configurations: ["organizationId", "assistantId", "theme", "mode", "updatedAt", "allowedOrigins"],
  voice_configurations: ["organizationId", "assistantId", "initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput", "functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "updatedAt", "voiceProvider", "voice", "backgroundSound", "backchanneling", "endCallFunction", "dialKeypadFunction", "endCallMessage", "endCallPhrases"],
  webhook_destinations: ["organizationId", "id", "url", "name", "sealedSecret", "enabled", "createdAt", "updatedAt", "projectId", "failures", "failingSince", "timedOut", "formerSealedSecret", "formerSecretUntil"],
  worker_heartbeats: ["workerId", "seenAt"],
  workflow_edges: ["organizationId", "workflowId", "id", "fromNodeId", "toNodeId", "kind", "rank", "description", "collects", "variable", "operator", "value", "functionName", "createdAt", "updatedAt"],
  workflow_nodes: ["organizationId", "workflowId", "id", "type", "name", "assistantId", "instructions", "functionName", "arguments", "resultVariable", "message", "endReason", "metadata", "createdAt", "updatedAt"],
  workflows: ["organizationId", "id", "name", "description", "projectId", "createdAt", "updatedAt"],
};
