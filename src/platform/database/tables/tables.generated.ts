// Generated from the migrated database by `npm run rows`. A test compares it with the database.
import type { Column, ColumnWithDefault, NullableColumn } from "./column";

/** Columns of every table and view, as JavaScript reads their values. */
export interface Tables {
  api_keys: {
    organizationId: Column<string>;
    id: Column<string>;
    type: Column<"SECRET" | "PUBLIC">;
    status: Column<"ACTIVE" | "INACTIVE">;
    sealedValue: Column<string>;
    createdAt: ColumnWithDefault<Date>;
    lastUsedAt: NullableColumn<Date>;
    name: NullableColumn<string>;
    expiresAt: NullableColumn<Date>;
    permissions: NullableColumn<unknown>;
    assistantIds: NullableColumn<unknown>;
  };
  assistant_drafts: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    basedOn: Column<number>;
    content: Column<unknown>;
    sealedSecrets: NullableColumn<string>;
    updatedAt: Column<Date>;
  };
  assistant_files: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    fileId: Column<string>;
    status: ColumnWithDefault<"PENDING" | "READY" | "FAILED">;
    problem: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    passages: ColumnWithDefault<number>;
  };
  assistant_versions: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    number: Column<number>;
    content: Column<unknown>;
    note: NullableColumn<string>;
    actor: Column<string>;
    keyId: NullableColumn<string>;
    userId: NullableColumn<string>;
    createdAt: Column<Date>;
  };
  assistants: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: NullableColumn<string>;
    variables: NullableColumn<unknown>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
    deletedAt: NullableColumn<Date>;
    projectId: NullableColumn<string>;
    toolServers: NullableColumn<unknown>;
    sealedToolHeaders: NullableColumn<string>;
    key: NullableColumn<string>;
    missingVariables: ColumnWithDefault<string>;
    createdBy: NullableColumn<unknown>;
  };
  audit_events: {
    organizationId: Column<string>;
    position: Column<string>;
    id: Column<string>;
    kind: Column<string>;
    actor: Column<string>;
    keyId: NullableColumn<string>;
    person: NullableColumn<string>;
    address: NullableColumn<string>;
    interface: Column<string>;
    requestId: NullableColumn<string>;
    operation: Column<string>;
    recordType: Column<string>;
    recordId: NullableColumn<string>;
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
    createdAt: ColumnWithDefault<Date>;
  };
  begun_jobs: {
    id: ColumnWithDefault<string>;
    task: Column<string>;
    payload: Column<unknown>;
    worker: Column<string>;
    begunAt: ColumnWithDefault<Date>;
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
    workflowId: NullableColumn<string>;
    deploymentId: NullableColumn<string>;
    engine: Column<string>;
    line: NullableColumn<string>;
    sealedSecret: Column<string>;
    engineCallId: NullableColumn<string>;
    dialAttempts: ColumnWithDefault<number>;
    dialingSince: NullableColumn<Date>;
    askedAt: NullableColumn<Date>;
    dialedAt: NullableColumn<Date>;
    answeredAt: NullableColumn<Date>;
    heardAt: NullableColumn<Date>;
    transcribed: ColumnWithDefault<boolean>;
    spoken: ColumnWithDefault<unknown>;
    createdAt: ColumnWithDefault<Date>;
  };
  chat_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: ColumnWithDefault<string>;
    prompt: ColumnWithDefault<string>;
    resources: ColumnWithDefault<string>;
    provider: ColumnWithDefault<string>;
    model: ColumnWithDefault<string>;
    temperature: ColumnWithDefault<number>;
    maxTokensOutput: ColumnWithDefault<number>;
    functions: ColumnWithDefault<unknown>;
    isRagEnabled: ColumnWithDefault<boolean>;
    forceRag: ColumnWithDefault<boolean>;
    ragTriggerTopics: ColumnWithDefault<string>;
    preserveRagResult: ColumnWithDefault<boolean>;
    updatedAt: ColumnWithDefault<Date>;
    chatMode: ColumnWithDefault<boolean>;
    quickRepliesEnabled: ColumnWithDefault<boolean>;
  };
  chat_drafts: {
    organizationId: Column<string>;
    chatId: Column<string>;
    content: Column<unknown>;
    sealedSecrets: NullableColumn<string>;
  };
  chats: {
    organizationId: Column<string>;
    id: Column<string>;
    assistantId: Column<string>;
    channel: Column<"VOICE" | "TEXT" | "SMS">;
    status: Column<"queued" | "ringing" | "in-progress" | "forwarding" | "ended">;
    statusEventId: Column<string>;
    label: NullableColumn<string>;
    firstWords: NullableColumn<string>;
    phoneNumber: NullableColumn<string>;
    userId: NullableColumn<string>;
    uniqueId: NullableColumn<string>;
    variables: ColumnWithDefault<unknown>;
    metadata: ColumnWithDefault<unknown>;
    recordingUrl: NullableColumn<string>;
    messageCount: ColumnWithDefault<number>;
    startedAt: ColumnWithDefault<Date>;
    lastMessageAt: ColumnWithDefault<Date>;
    endedAt: NullableColumn<Date>;
    endedReason: NullableColumn<string>;
    errors: ColumnWithDefault<unknown>;
    notes: ColumnWithDefault<unknown>;
    answeredSequence: ColumnWithDefault<number>;
    userName: NullableColumn<string>;
    anonymousId: NullableColumn<string>;
    externalId: NullableColumn<string>;
    workflowId: NullableColumn<string>;
    deploymentId: NullableColumn<string>;
    workflowNodeId: NullableColumn<string>;
    ending: NullableColumn<string>;
    visitorId: NullableColumn<string>;
    identityProven: ColumnWithDefault<boolean>;
    counted: ColumnWithDefault<boolean>;
    setVariables: NullableColumn<unknown>;
    eventCount: ColumnWithDefault<number>;
    statusPlaces: ColumnWithDefault<unknown>;
    assistantVersion: NullableColumn<number>;
    runsDraft: ColumnWithDefault<boolean>;
    speakerVersions: NullableColumn<unknown>;
    quietFrom: ColumnWithDefault<Date>;
  };
  conversation_facts: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: NullableColumn<number>;
    questions: NullableColumn<number>;
    answers: NullableColumn<number>;
    answerMs: NullableColumn<string>;
    answerTimes: NullableColumn<number[]>;
    notKnown: NullableColumn<number>;
    errors: NullableColumn<number>;
    noAnswer: NullableColumn<number>;
  };
  conversation_facts_computed: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: NullableColumn<number>;
    questions: NullableColumn<number>;
    answers: NullableColumn<number>;
    answerMs: NullableColumn<string>;
    answerTimes: NullableColumn<number[]>;
    notKnown: NullableColumn<number>;
    errors: NullableColumn<number>;
    noAnswer: NullableColumn<number>;
    counted: NullableColumn<boolean>;
  };
  conversation_facts_current: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: NullableColumn<number>;
    questions: NullableColumn<number>;
    answers: NullableColumn<number>;
    answerMs: NullableColumn<string>;
    answerTimes: NullableColumn<number[]>;
    notKnown: NullableColumn<number>;
    errors: NullableColumn<number>;
    noAnswer: NullableColumn<number>;
  };
  conversation_facts_kept: {
    organizationId: Column<string>;
    chatId: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: Column<number>;
    questions: Column<number>;
    answers: Column<number>;
    answerMs: Column<string>;
    answerTimes: Column<number[]>;
    notKnown: Column<number>;
    errors: Column<number>;
    noAnswer: Column<number>;
  };
  conversation_facts_summed: {
    organizationId: Column<string>;
    chatId: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: Column<number>;
    questions: Column<number>;
    answers: Column<number>;
    answerMs: Column<string>;
    answerTimes: Column<number[]>;
    notKnown: Column<number>;
    errors: Column<number>;
    noAnswer: Column<number>;
  };
  conversation_facts_unsummed: {
    sign: NullableColumn<number>;
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    endedReason: NullableColumn<string>;
    seconds: NullableColumn<number>;
    messages: NullableColumn<number>;
    questions: NullableColumn<number>;
    answers: NullableColumn<number>;
    answerMs: NullableColumn<string>;
    answerTimes: NullableColumn<number[]>;
    notKnown: NullableColumn<number>;
    errors: NullableColumn<number>;
    noAnswer: NullableColumn<number>;
  };
  conversation_sums: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    unit: Column<"quarter" | "day">;
    startsAt: Column<Date>;
    channel: Column<string>;
    conversations: NullableColumn<number>;
    messages: NullableColumn<number>;
    seconds: NullableColumn<string>;
    questions: NullableColumn<number>;
    answers: NullableColumn<number>;
    answerMs: NullableColumn<string>;
    notKnown: NullableColumn<number>;
    errors: NullableColumn<number>;
    noAnswer: NullableColumn<number>;
    t0: NullableColumn<number>;
    t1: NullableColumn<number>;
    t2: NullableColumn<number>;
    t3: NullableColumn<number>;
    t4: NullableColumn<number>;
    t5: NullableColumn<number>;
    t6: NullableColumn<number>;
    t7: NullableColumn<number>;
    t8: NullableColumn<number>;
    t9: NullableColumn<number>;
    t10: NullableColumn<number>;
    t11: NullableColumn<number>;
    t12: NullableColumn<number>;
    m0: NullableColumn<number>;
    m1: NullableColumn<number>;
    m2: NullableColumn<number>;
    m3: NullableColumn<number>;
    m4: NullableColumn<number>;
    m5: NullableColumn<number>;
    m6: NullableColumn<number>;
    m7: NullableColumn<number>;
    s0: NullableColumn<number>;
    s1: NullableColumn<number>;
    s2: NullableColumn<number>;
    s3: NullableColumn<number>;
    s4: NullableColumn<number>;
    s5: NullableColumn<number>;
    s6: NullableColumn<number>;
    s7: NullableColumn<number>;
    s8: NullableColumn<number>;
  };
  deliveries: {
    organizationId: Column<string>;
    id: Column<string>;
    eventId: Column<string>;
    destinationId: Column<string>;
    chatId: NullableColumn<string>;
    status: ColumnWithDefault<"PENDING" | "DELIVERED" | "FAILED">;
    attempt: ColumnWithDefault<number>;
    claimedUntil: NullableColumn<Date>;
    nextAttemptAt: ColumnWithDefault<Date>;
    attempts: ColumnWithDefault<unknown>;
    createdAt: ColumnWithDefault<Date>;
    durationMs: NullableColumn<number>;
    chatSequence: ColumnWithDefault<number>;
  };
  delivery_queues: {
    organizationId: Column<string>;
    destinationId: Column<string>;
    chatId: ColumnWithDefault<string>;
    deliveryId: ColumnWithDefault<string>;
    dueAt: ColumnWithDefault<Date>;
    claim: NullableColumn<string>;
    posted: ColumnWithDefault<number>;
  };
  delivery_sum_gaps: {
    organizationId: Column<string>;
    startsAt: Column<Date>;
  };
  delivery_sum_heads: {
    organizationId: Column<string>;
    until: Column<Date>;
  };
  delivery_sums: {
    organizationId: Column<string>;
    startsAt: Column<Date>;
    destinationId: Column<string>;
    delivered: Column<number>;
    failed: Column<number>;
    retried: Column<number>;
    t0: Column<number>;
    t1: Column<number>;
    t2: Column<number>;
    t3: Column<number>;
    t4: Column<number>;
    t5: Column<number>;
    t6: Column<number>;
    t7: Column<number>;
    t8: Column<number>;
    t9: Column<number>;
  };
  deployments: {
    organizationId: Column<string>;
    id: Column<string>;
    type: Column<"TEXT_IFRAME" | "TEXT_BUBBLE" | "VOICE_BUBBLE" | "VOICE_IFRAME" | "SMS" | "PHONE_OUTBOUND" | "PHONE_INBOUND" | "API">;
    enabled: ColumnWithDefault<boolean>;
    projectId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    workflowId: NullableColumn<string>;
    telephonyConnectionId: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
    key: NullableColumn<string>;
    assistantVersion: NullableColumn<number>;
  };
  end_reason_sums: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    startsAt: Column<Date>;
    channel: Column<string>;
    reason: Column<string>;
    conversations: Column<number>;
  };
  end_user_exports: {
    organizationId: Column<string>;
    id: Column<string>;
    subject: Column<"UNIQUE_ID" | "USER_ID" | "ANONYMOUS_ID" | "PHONE_NUMBER">;
    digest: Column<string>;
    sealedTarget: NullableColumn<string>;
    status: ColumnWithDefault<"PENDING" | "RUNNING" | "DONE" | "FAILED" | "EXPIRED" | "WITHDRAWN">;
    problem: NullableColumn<string>;
    attempt: ColumnWithDefault<number>;
    chatIds: ColumnWithDefault<string[]>;
    archiveId: NullableColumn<string>;
    size: ColumnWithDefault<string>;
    chats: ColumnWithDefault<number>;
    messages: ColumnWithDefault<number>;
    events: ColumnWithDefault<number>;
    files: ColumnWithDefault<number>;
    recordings: ColumnWithDefault<number>;
    absent: ColumnWithDefault<number>;
    requestedAt: ColumnWithDefault<Date>;
    finishedAt: NullableColumn<Date>;
    expiresAt: NullableColumn<Date>;
  };
  end_users: {
    organizationId: Column<string>;
    id: Column<string>;
    assistantId: Column<string>;
    uniqueId: Column<string>;
    facts: ColumnWithDefault<unknown>;
    context: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
    contextVisitorId: NullableColumn<string>;
    signedContext: NullableColumn<string>;
    signedContextVisitorId: NullableColumn<string>;
    contextChatId: NullableColumn<string>;
    signedContextChatId: NullableColumn<string>;
  };
  engine_callbacks: {
    organizationId: Column<string>;
    chatId: Column<string>;
    digest: Column<string>;
    answer: NullableColumn<unknown>;
    createdAt: ColumnWithDefault<Date>;
  };
  erasures: {
    organizationId: Column<string>;
    id: Column<string>;
    subject: Column<"UNIQUE_ID" | "USER_ID" | "ANONYMOUS_ID" | "PHONE_NUMBER" | "LOGS">;
    digest: NullableColumn<string>;
    sealedTarget: NullableColumn<string>;
    status: ColumnWithDefault<"PENDING" | "RUNNING" | "DONE">;
    until: ColumnWithDefault<Date>;
    matched: ColumnWithDefault<number>;
    chats: ColumnWithDefault<number>;
    messages: ColumnWithDefault<number>;
    events: ColumnWithDefault<number>;
    recordings: ColumnWithDefault<number>;
    texts: ColumnWithDefault<number>;
    facts: ColumnWithDefault<number>;
    contexts: ColumnWithDefault<number>;
    files: ColumnWithDefault<number>;
    requestedAt: ColumnWithDefault<Date>;
    workedAt: ColumnWithDefault<Date>;
    finishedAt: NullableColumn<Date>;
    exports: ColumnWithDefault<number>;
    textsKept: ColumnWithDefault<number>;
    callsKept: ColumnWithDefault<number>;
  };
  events: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    type: Column<string>;
    assistantId: Column<string>;
    chatId: NullableColumn<string>;
    body: NullableColumn<string>;
    transaction: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    chatSequence: ColumnWithDefault<number>;
    recipe: NullableColumn<unknown>;
    digest: NullableColumn<string>;
  };
  file_store: {
    one: ColumnWithDefault<boolean>;
    id: Column<string>;
  };
  files: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    mimeType: Column<string>;
    detectedType: Column<string>;
    size: Column<string>;
    metadata: ColumnWithDefault<unknown>;
    createdAt: ColumnWithDefault<Date>;
  };
  function_facts: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    name: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    calls: NullableColumn<number>;
    failed: NullableColumn<number>;
  };
  function_facts_computed: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    name: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    calls: NullableColumn<number>;
    failed: NullableColumn<number>;
    counted: NullableColumn<boolean>;
  };
  function_facts_current: {
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    name: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    calls: NullableColumn<number>;
    failed: NullableColumn<number>;
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
  function_facts_summed: {
    organizationId: Column<string>;
    chatId: Column<string>;
    name: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    calls: Column<number>;
    failed: Column<number>;
  };
  function_facts_unsummed: {
    sign: NullableColumn<number>;
    organizationId: NullableColumn<string>;
    chatId: NullableColumn<string>;
    name: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    calls: NullableColumn<number>;
    failed: NullableColumn<number>;
  };
  function_secrets: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    slot: Column<string>;
    sealedSecret: Column<string>;
  };
  function_sums: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    startsAt: Column<Date>;
    channel: Column<string>;
    name: Column<string>;
    calls: Column<number>;
    failed: Column<number>;
  };
  holds: {
    id: Column<string>;
    reason: Column<"RESTORED" | "MOVED">;
    note: Column<string>;
    since: ColumnWithDefault<Date>;
    finishedAt: NullableColumn<Date>;
    releasedAt: NullableColumn<Date>;
  };
  idempotency_claims: {
    organizationId: Column<string>;
    key: Column<string>;
    claim: Column<string>;
    requestHash: Column<string>;
    claimedAt: ColumnWithDefault<Date>;
  };
  idempotency_keys: {
    organizationId: Column<string>;
    key: Column<string>;
    requestHash: Column<string>;
    status: Column<number>;
    sealedBody: Column<string>;
    createdAt: ColumnWithDefault<Date>;
    disclosed: NullableColumn<unknown>;
    warnings: NullableColumn<unknown>;
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
  live_facts: {
    organizationId: Column<string>;
    chatId: Column<string>;
    messageCount: Column<number>;
    eventCount: Column<number>;
    messages: Column<number>;
    questions: Column<number>;
    answers: Column<number>;
    answerMs: Column<string>;
    answerTimes: Column<number[]>;
    notKnown: Column<number>;
    errors: Column<number>;
    functions: Column<unknown>;
  };
  log_blocks: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    fromAt: Column<Date>;
    fromId: Column<string>;
    logs: NullableColumn<number>;
  };
  log_changes: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    channel: Column<string>;
    startedAt: Column<Date>;
    chatId: Column<string>;
    change: Column<number>;
  };
  messages: {
    organizationId: Column<string>;
    id: Column<string>;
    chatId: Column<string>;
    sequence: Column<number>;
    role: Column<"ASSISTANT" | "TOOL" | "USER" | "SYSTEM">;
    channel: Column<"VOICE" | "TEXT" | "SMS">;
    content: NullableColumn<string>;
    metadata: ColumnWithDefault<unknown>;
    toolCallId: NullableColumn<string>;
    toolCalls: NullableColumn<unknown>;
    createdAt: ColumnWithDefault<Date>;
    assistantId: Column<string>;
    clientId: NullableColumn<string>;
    answersUpTo: NullableColumn<number>;
  };
  model_credentials: {
    organizationId: Column<string>;
    id: Column<string>;
    provider: Column<string>;
    sealedKey: NullableColumn<string>;
    baseUrl: NullableColumn<string>;
    updatedAt: ColumnWithDefault<Date>;
  };
  model_mappings: {
    organizationId: Column<string>;
    id: Column<string>;
    model: Column<string>;
    name: Column<string>;
    provider: NullableColumn<string>;
    baseUrl: NullableColumn<string>;
    sealedKey: NullableColumn<string>;
    updatedAt: ColumnWithDefault<Date>;
  };
  online_steps: {
    name: Column<string>;
    cursor: NullableColumn<unknown>;
    startedAt: ColumnWithDefault<Date>;
    doneAt: NullableColumn<Date>;
  };
  organizations: {
    id: Column<string>;
    name: Column<string>;
    isDefault: ColumnWithDefault<boolean>;
    createdAt: ColumnWithDefault<Date>;
    requireSignedIdentity: ColumnWithDefault<boolean>;
    sealedIdentitySecret: NullableColumn<string>;
    sealedErasureKey: NullableColumn<string>;
    recountFactsAfter: NullableColumn<string>;
    modelFailures: NullableColumn<unknown>;
  };
  passages: {
    organizationId: Column<string>;
    id: Column<string>;
    fileId: NullableColumn<string>;
    ordinal: Column<number>;
    content: Column<string>;
    words: ColumnWithDefault<string>;
    page: NullableColumn<number>;
    assistantId: NullableColumn<string>;
    language: NullableColumn<string>;
    terms: NullableColumn<string>;
  };
  projects: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
  };
  provider_erasures: {
    organizationId: Column<string>;
    id: Column<string>;
    erasureId: NullableColumn<string>;
    kind: Column<"TEXTS" | "CALL">;
    sealedTarget: Column<string>;
    createdAt: ColumnWithDefault<Date>;
  };
  question_outcomes: {
    organizationId: NullableColumn<string>;
    id: NullableColumn<string>;
    chatId: NullableColumn<string>;
    assistantId: NullableColumn<string>;
    channel: NullableColumn<string>;
    startedAt: NullableColumn<Date>;
    question: NullableColumn<string>;
    askedAt: NullableColumn<Date>;
    answer: NullableColumn<string>;
    answerMs: NullableColumn<string>;
    outcome: NullableColumn<string>;
  };
  retentions: {
    organizationId: Column<string>;
    kind: Column<"LOGS" | "RECORDINGS" | "EVENTS">;
    chosenDays: NullableColumn<number>;
    heldDays: NullableColumn<number>;
    toldDays: NullableColumn<number>;
    toldAt: NullableColumn<Date>;
  };
  sms_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: ColumnWithDefault<string>;
    prompt: ColumnWithDefault<string>;
    resources: ColumnWithDefault<string>;
    provider: ColumnWithDefault<string>;
    model: ColumnWithDefault<string>;
    temperature: ColumnWithDefault<number>;
    maxTokensOutput: ColumnWithDefault<number>;
    functions: ColumnWithDefault<unknown>;
    isRagEnabled: ColumnWithDefault<boolean>;
    forceRag: ColumnWithDefault<boolean>;
    ragTriggerTopics: ColumnWithDefault<string>;
    preserveRagResult: ColumnWithDefault<boolean>;
    updatedAt: ColumnWithDefault<Date>;
    smsMode: ColumnWithDefault<boolean>;
    voiceCallMode: ColumnWithDefault<boolean>;
    keywords: ColumnWithDefault<string>;
  };
  sms_contacts: {
    organizationId: Column<string>;
    ownNumber: Column<string>;
    phoneNumber: Column<string>;
    optedOutAt: NullableColumn<Date>;
    answers: ColumnWithDefault<unknown>;
    updatedAt: ColumnWithDefault<Date>;
  };
  sms_received: {
    organizationId: Column<string>;
    messageSid: Column<string>;
    connectionId: Column<string>;
    chatId: NullableColumn<string>;
    sequence: NullableColumn<number>;
    sms: Column<unknown>;
    outcome: NullableColumn<string>;
    answer: NullableColumn<unknown>;
    waitsUntil: NullableColumn<Date>;
    createdAt: ColumnWithDefault<Date>;
  };
  sms_sent: {
    organizationId: Column<string>;
    id: Column<string>;
    chatId: NullableColumn<string>;
    via: Column<"TWIML" | "API">;
    body: Column<string>;
    attempts: ColumnWithDefault<number>;
    askedAt: NullableColumn<Date>;
    sentAt: NullableColumn<Date>;
    messageSid: NullableColumn<string>;
    problem: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    messageId: NullableColumn<string>;
    delivery: NullableColumn<string>;
    deliveryError: NullableColumn<string>;
    connectionId: NullableColumn<string>;
    phoneNumber: NullableColumn<string>;
  };
  sms_threads: {
    organizationId: Column<string>;
    chatId: Column<string>;
    connectionId: Column<string>;
    assistantId: Column<string>;
    phoneNumber: Column<string>;
    sentSequence: ColumnWithDefault<number>;
  };
  sole_jobs: {
    name: Column<string>;
    jobId: Column<string>;
    attempt: Column<number>;
    again: ColumnWithDefault<boolean>;
  };
  stored_sizes: {
    organizationId: Column<string>;
    bytes: ColumnWithDefault<string>;
    grown: ColumnWithDefault<string>;
    walk: NullableColumn<unknown>;
    measuredAt: NullableColumn<Date>;
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
    messagingServiceSid: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
  };
  telephony_lookup: {
    phoneNumber: Column<string>;
    organizationId: Column<string>;
    connectionId: Column<string>;
  };
  templates: {
    id: Column<string>;
    name: Column<string>;
    description: NullableColumn<string>;
    variables: NullableColumn<unknown>;
    voice: Column<unknown>;
    sms: Column<unknown>;
    chat: Column<unknown>;
    theme: Column<unknown>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
  };
  theme_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    theme: ColumnWithDefault<unknown>;
    mode: ColumnWithDefault<"CHAT_ONLY" | "VOICE_ONLY" | "VOICE_AND_CHAT">;
    updatedAt: ColumnWithDefault<Date>;
    allowedOrigins: ColumnWithDefault<unknown>;
  };
  version_files: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    fileId: Column<string>;
  };
  version_heads: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    number: Column<number>;
    content: Column<unknown>;
  };
  version_texts: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    digest: Column<string>;
    content: Column<string>;
  };
  voice_configurations: {
    organizationId: Column<string>;
    assistantId: Column<string>;
    initialMessage: ColumnWithDefault<string>;
    prompt: ColumnWithDefault<string>;
    resources: ColumnWithDefault<string>;
    provider: ColumnWithDefault<string>;
    model: ColumnWithDefault<string>;
    temperature: ColumnWithDefault<number>;
    maxTokensOutput: ColumnWithDefault<number>;
    functions: ColumnWithDefault<unknown>;
    isRagEnabled: ColumnWithDefault<boolean>;
    forceRag: ColumnWithDefault<boolean>;
    ragTriggerTopics: ColumnWithDefault<string>;
    preserveRagResult: ColumnWithDefault<boolean>;
    updatedAt: ColumnWithDefault<Date>;
    voiceProvider: ColumnWithDefault<string>;
    voice: ColumnWithDefault<string>;
    backgroundSound: ColumnWithDefault<"DEFAULT" | "OFF" | "OFFICE">;
    backchanneling: ColumnWithDefault<boolean>;
    endCallFunction: ColumnWithDefault<boolean>;
    dialKeypadFunction: ColumnWithDefault<boolean>;
    endCallMessage: ColumnWithDefault<string>;
    endCallPhrases: ColumnWithDefault<string>;
  };
  webhook_destinations: {
    organizationId: Column<string>;
    id: Column<string>;
    url: Column<string>;
    name: NullableColumn<string>;
    sealedSecret: Column<string>;
    enabled: ColumnWithDefault<boolean>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
    projectId: NullableColumn<string>;
    failures: ColumnWithDefault<number>;
    failingSince: NullableColumn<Date>;
    timedOut: ColumnWithDefault<boolean>;
    formerSealedSecret: NullableColumn<string>;
    formerSecretUntil: NullableColumn<Date>;
    events: NullableColumn<unknown>;
    key: NullableColumn<string>;
  };
  worker_heartbeats: {
    workerId: Column<string>;
    seenAt: ColumnWithDefault<Date>;
  };
  workflow_edges: {
    organizationId: Column<string>;
    workflowId: Column<string>;
    id: Column<string>;
    fromNodeId: Column<string>;
    toNodeId: Column<string>;
    kind: Column<"DEFAULT" | "MODEL" | "VARIABLE" | "FUNCTION">;
    rank: ColumnWithDefault<number>;
    description: NullableColumn<string>;
    collects: ColumnWithDefault<unknown>;
    variable: NullableColumn<string>;
    operator: NullableColumn<"EQUALS" | "NOT_EQUALS" | "CONTAINS" | "GREATER" | "LESS" | "IS_SET" | "IS_NOT_SET">;
    value: NullableColumn<string>;
    functionName: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
  };
  workflow_nodes: {
    organizationId: Column<string>;
    workflowId: Column<string>;
    id: Column<string>;
    type: Column<"START" | "END" | "PROMPT" | "ACTION" | "CONDITION">;
    name: Column<string>;
    assistantId: NullableColumn<string>;
    instructions: NullableColumn<string>;
    functionName: NullableColumn<string>;
    arguments: ColumnWithDefault<unknown>;
    resultVariable: NullableColumn<string>;
    message: NullableColumn<string>;
    endReason: NullableColumn<string>;
    metadata: ColumnWithDefault<unknown>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
  };
  workflows: {
    organizationId: Column<string>;
    id: Column<string>;
    name: Column<string>;
    description: NullableColumn<string>;
    projectId: NullableColumn<string>;
    createdAt: ColumnWithDefault<Date>;
    updatedAt: ColumnWithDefault<Date>;
    key: NullableColumn<string>;
  };
  write_positions: {
    organizationId: Column<string>;
    position: Column<string>;
  };
}

/** Names of the columns of every table and view. */
export const COLUMNS: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
  api_keys: ["organizationId", "id", "type", "status", "sealedValue", "createdAt", "lastUsedAt", "name", "expiresAt", "permissions", "assistantIds"],
  assistant_drafts: ["organizationId", "assistantId", "basedOn", "content", "sealedSecrets", "updatedAt"],
  assistant_files: ["organizationId", "assistantId", "fileId", "status", "problem", "createdAt", "passages"],
  assistant_versions: ["organizationId", "assistantId", "number", "content", "note", "actor", "keyId", "userId", "createdAt"],
  assistants: ["organizationId", "id", "name", "description", "variables", "createdAt", "updatedAt", "deletedAt", "projectId", "toolServers", "sealedToolHeaders", "key", "missingVariables", "createdBy"],
  audit_events: ["organizationId", "position", "id", "kind", "actor", "keyId", "person", "address", "interface", "requestId", "operation", "recordType", "recordId", "fields", "createdAt", "previousHash", "hash"],
  audit_heads: ["organizationId", "position", "hash"],
  audit_outbox: ["organizationId", "id", "entry", "createdAt"],
  begun_jobs: ["id", "task", "payload", "worker", "begunAt"],
  call_lookup: ["lookup", "organizationId", "chatId"],
  calls: ["organizationId", "chatId", "kind", "workflowId", "deploymentId", "engine", "line", "sealedSecret", "engineCallId", "dialAttempts", "dialingSince", "askedAt", "dialedAt", "answeredAt", "heardAt", "transcribed", "spoken", "createdAt"],
  chat_configurations: ["organizationId", "assistantId", "initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput", "functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "updatedAt", "chatMode", "quickRepliesEnabled"],
  chat_drafts: ["organizationId", "chatId", "content", "sealedSecrets"],
  chats: ["organizationId", "id", "assistantId", "channel", "status", "statusEventId", "label", "firstWords", "phoneNumber", "userId", "uniqueId", "variables", "metadata", "recordingUrl", "messageCount", "startedAt", "lastMessageAt", "endedAt", "endedReason", "errors", "notes", "answeredSequence", "userName", "anonymousId", "externalId", "workflowId", "deploymentId", "workflowNodeId", "ending", "visitorId", "identityProven", "counted", "setVariables", "eventCount", "statusPlaces", "assistantVersion", "runsDraft", "speakerVersions", "quietFrom"],
  conversation_facts: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_facts_computed: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer", "counted"],
  conversation_facts_current: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_facts_kept: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_facts_summed: ["organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_facts_unsummed: ["sign", "organizationId", "chatId", "assistantId", "channel", "startedAt", "endedReason", "seconds", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "noAnswer"],
  conversation_sums: ["organizationId", "assistantId", "unit", "startsAt", "channel", "conversations", "messages", "seconds", "questions", "answers", "answerMs", "notKnown", "errors", "noAnswer", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"],
  deliveries: ["organizationId", "id", "eventId", "destinationId", "chatId", "status", "attempt", "claimedUntil", "nextAttemptAt", "attempts", "createdAt", "durationMs", "chatSequence"],
  delivery_queues: ["organizationId", "destinationId", "chatId", "deliveryId", "dueAt", "claim", "posted"],
  delivery_sum_gaps: ["organizationId", "startsAt"],
  delivery_sum_heads: ["organizationId", "until"],
  delivery_sums: ["organizationId", "startsAt", "destinationId", "delivered", "failed", "retried", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"],
  deployments: ["organizationId", "id", "type", "enabled", "projectId", "assistantId", "workflowId", "telephonyConnectionId", "createdAt", "updatedAt", "key", "assistantVersion"],
  end_reason_sums: ["organizationId", "assistantId", "startsAt", "channel", "reason", "conversations"],
  end_user_exports: ["organizationId", "id", "subject", "digest", "sealedTarget", "status", "problem", "attempt", "chatIds", "archiveId", "size", "chats", "messages", "events", "files", "recordings", "absent", "requestedAt", "finishedAt", "expiresAt"],
  end_users: ["organizationId", "id", "assistantId", "uniqueId", "facts", "context", "createdAt", "updatedAt", "contextVisitorId", "signedContext", "signedContextVisitorId", "contextChatId", "signedContextChatId"],
  engine_callbacks: ["organizationId", "chatId", "digest", "answer", "createdAt"],
  erasures: ["organizationId", "id", "subject", "digest", "sealedTarget", "status", "until", "matched", "chats", "messages", "events", "recordings", "texts", "facts", "contexts", "files", "requestedAt", "workedAt", "finishedAt", "exports", "textsKept", "callsKept"],
  events: ["organizationId", "id", "name", "type", "assistantId", "chatId", "body", "transaction", "createdAt", "chatSequence", "recipe", "digest"],
  file_store: ["one", "id"],
  files: ["organizationId", "id", "name", "mimeType", "detectedType", "size", "metadata", "createdAt"],
  function_facts: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_facts_computed: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed", "counted"],
  function_facts_current: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_facts_kept: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_facts_summed: ["organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_facts_unsummed: ["sign", "organizationId", "chatId", "name", "assistantId", "channel", "startedAt", "calls", "failed"],
  function_secrets: ["organizationId", "assistantId", "slot", "sealedSecret"],
  function_sums: ["organizationId", "assistantId", "startsAt", "channel", "name", "calls", "failed"],
  holds: ["id", "reason", "note", "since", "finishedAt", "releasedAt"],
  idempotency_claims: ["organizationId", "key", "claim", "requestHash", "claimedAt"],
  idempotency_keys: ["organizationId", "key", "requestHash", "status", "sealedBody", "createdAt", "disclosed", "warnings"],
  job_deaths: ["jobId", "deaths"],
  key_lookup: ["lookup", "organizationId", "keyId"],
  ledger_heads: ["organizationId", "position"],
  live_facts: ["organizationId", "chatId", "messageCount", "eventCount", "messages", "questions", "answers", "answerMs", "answerTimes", "notKnown", "errors", "functions"],
  log_blocks: ["organizationId", "assistantId", "channel", "fromAt", "fromId", "logs"],
  log_changes: ["organizationId", "assistantId", "channel", "startedAt", "chatId", "change"],
  messages: ["organizationId", "id", "chatId", "sequence", "role", "channel", "content", "metadata", "toolCallId", "toolCalls", "createdAt", "assistantId", "clientId", "answersUpTo"],
  model_credentials: ["organizationId", "id", "provider", "sealedKey", "baseUrl", "updatedAt"],
  model_mappings: ["organizationId", "id", "model", "name", "provider", "baseUrl", "sealedKey", "updatedAt"],
  online_steps: ["name", "cursor", "startedAt", "doneAt"],
  organizations: ["id", "name", "isDefault", "createdAt", "requireSignedIdentity", "sealedIdentitySecret", "sealedErasureKey", "recountFactsAfter", "modelFailures"],
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
  version_files: ["organizationId", "assistantId", "fileId"],
  version_heads: ["organizationId", "assistantId", "number", "content"],
  version_texts: ["organizationId", "assistantId", "digest", "content"],
  voice_configurations: ["organizationId", "assistantId", "initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput", "functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "updatedAt", "voiceProvider", "voice", "backgroundSound", "backchanneling", "endCallFunction", "dialKeypadFunction", "endCallMessage", "endCallPhrases"],
  webhook_destinations: ["organizationId", "id", "url", "name", "sealedSecret", "enabled", "createdAt", "updatedAt", "projectId", "failures", "failingSince", "timedOut", "formerSealedSecret", "formerSecretUntil", "events", "key"],
  worker_heartbeats: ["workerId", "seenAt"],
  workflow_edges: ["organizationId", "workflowId", "id", "fromNodeId", "toNodeId", "kind", "rank", "description", "collects", "variable", "operator", "value", "functionName", "createdAt", "updatedAt"],
  workflow_nodes: ["organizationId", "workflowId", "id", "type", "name", "assistantId", "instructions", "functionName", "arguments", "resultVariable", "message", "endReason", "metadata", "createdAt", "updatedAt"],
  workflows: ["organizationId", "id", "name", "description", "projectId", "createdAt", "updatedAt", "key"],
  write_positions: ["organizationId", "position"],
};
