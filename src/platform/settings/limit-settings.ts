import { flag, whole } from "./setting-kinds";

/** The settings of rate limits, quotas and connection limits. */
export const LIMIT_SETTINGS = {
  RATE_LIMIT_ORGANIZATION: [
    whole(1, 1_000_000).default(600),
    "`600`",
    "Requests per second per organization, in all servers together.",
  ],
  RATE_LIMIT_CREDENTIAL: [
    whole(1, 1_000_000).optional(),
    "the value of `RATE_LIMIT_ORGANIZATION`",
    "Requests per second per key, and per user or visitor with a token, in all servers together.",
  ],
  RATE_LIMIT_ANONYMOUS: [
    whole(1, 1_000_000).default(20),
    "`20`",
    "Requests per second per IP address without a valid credential or signature.",
  ],
  RATE_LIMIT_DOWNLOAD: [
    whole(1, 1_000_000).default(200),
    "`200`",
    "Downloads, recordings and pages per second per IP address.",
  ],
  RATE_LIMIT_CALLBACK: [
    whole(1, 1_000_000).default(100),
    "`100`",
    "Callbacks of a voice engine per second per IP address, and per ended call. Callbacks with the secret of a live call are not limited. Callbacks over the limit get 201 and have no effect.",
  ],
  RATE_LIMIT_CONNECTION: [
    whole(1, 1_000_000).default(50),
    "`50`",
    "New WebSocket connections per second per IP address.",
  ],
  RATE_LIMIT_VISITOR: [
    whole(3, 1_000_000).default(30),
    "`30`",
    "Messages per minute per visitor of a web page (a new chat costs 3); ten times as many per IP address (a new session costs 3).",
  ],
  RATE_LIMIT_LOOPBACK: [
    flag.default(false),
    "`false`",
    "Whether the rate limits also apply to callers on this machine.",
  ],
  QUOTA_STORED_BYTES: [
    whole(1, Number.MAX_SAFE_INTEGER).default(10_737_418_240),
    "`10737418240` (10 GiB)",
    "Bytes that one organization may store: files, exports and rows of every kind (an estimate). At the limit, requests that store something are refused with 403 `QUOTA_EXCEEDED`, a text message gets a fixed answer, and inbound calls are not answered; reading, ending and deleting still work.",
  ],
  QUOTA_FILES: [
    whole(1, 10_000_000).default(100_000),
    "`100000`",
    "Files per organization; more are refused with 403 `QUOTA_EXCEEDED`.",
  ],
  QUOTA_ASSISTANTS: [
    whole(1, 10_000_000).default(10_000),
    "`10000`",
    "Assistants per organization; more are refused with 403 `QUOTA_EXCEEDED`.",
  ],
  QUOTA_VERSIONS: [
    whole(1, 100_000_000).default(100_000),
    "`100000`",
    "Versions of assistants per organization. A job removes the oldest ones beyond it, except those that are current, named by a deployment, or in use.",
  ],
  QUOTA_LIVE_CHATS: [
    whole(1, 10_000_000).default(50_000),
    "`50000`",
    "Live chats and calls per organization, over all channels. More are refused with 403 `QUOTA_EXCEEDED`; a text message gets a fixed answer, and inbound calls are not answered.",
  ],
  SOCKETS_PER_ADDRESS: [
    whole(1, 1_000_000).default(2_000),
    "`2000`",
    "Open WebSockets and event streams per IP address, in one process.",
  ],
  SOCKETS_PER_ORGANIZATION: [
    whole(1, 1_000_000).default(10_000),
    "`10000`",
    "Open WebSockets and event streams per organization, in one process.",
  ],
} as const;
