import { flag, whole } from "./setting-kinds";

/** The settings of how much callers may ask for in a span of time, and how much an organization may have. */
export const LIMIT_SETTINGS = {
  RATE_LIMIT_ORGANIZATION: [
    whole(1, 1_000_000).default(600),
    "`600`",
    "Requests a second for one organization, in one process.",
  ],
  RATE_LIMIT_CREDENTIAL: [
    whole(1, 1_000_000).optional(),
    "that of the organization",
    "Requests a second with one key, or by one user or visitor with a token, in one process.",
  ],
  RATE_LIMIT_ANONYMOUS: [
    whole(1, 1_000_000).default(20),
    "`20`",
    "Requests a second for one address without a valid credential or signature.",
  ],
  RATE_LIMIT_DOWNLOAD: [
    whole(1, 1_000_000).default(200),
    "`200`",
    "Downloads, recordings and pages a second for one address.",
  ],
  RATE_LIMIT_CALLBACK: [
    whole(1, 1_000_000).default(100),
    "`100`",
    "Callbacks of a voice engine a second for one address, or for one call that has ended. Callbacks with the secret of a live call are not limited. Further ones are answered with 201 and have no effect.",
  ],
  RATE_LIMIT_CONNECTION: [
    whole(1, 1_000_000).default(50),
    "`50`",
    "New WebSocket connections a second for one address.",
  ],
  RATE_LIMIT_VISITOR: [
    whole(3, 1_000_000).default(30),
    "`30`",
    "Messages a minute for one visitor of a web page (a new chat costs 3); ten times as many for one address (a new session costs 3).",
  ],
  RATE_LIMIT_LOOPBACK: [
    flag.default(false),
    "`false`",
    "Whether the limits apply to callers on this machine too.",
  ],
  QUOTA_STORED_BYTES: [
    whole(1, Number.MAX_SAFE_INTEGER).default(10_737_418_240),
    "`10737418240` (10 GiB)",
    "Bytes that one organization may store: files, exports, and rows of every kind (an estimate). At the limit requests that store something are refused with 403 `QUOTA_EXCEEDED`, a text gets a fixed answer, and an inbound call is not answered; deleting, ending and reading go on.",
  ],
  QUOTA_FILES: [
    whole(1, 10_000_000).default(100_000),
    "`100000`",
    "Files that one organization may keep; further ones are refused with 403 `QUOTA_EXCEEDED`.",
  ],
  QUOTA_ASSISTANTS: [
    whole(1, 10_000_000).default(10_000),
    "`10000`",
    "Assistants that one organization may have; further ones are refused with 403 `QUOTA_EXCEEDED`.",
  ],
  QUOTA_LIVE_CHATS: [
    whole(1, 10_000_000).default(50_000),
    "`50000`",
    "Live chats and calls of one organization, of all channels; further ones are refused with 403 `QUOTA_EXCEEDED`, a text with a fixed answer, and an inbound call is not answered.",
  ],
  SOCKETS_PER_ADDRESS: [
    whole(1, 1_000_000).default(2_000),
    "`2000`",
    "Open WebSocket connections for one address, in one process.",
  ],
  SOCKETS_PER_ORGANIZATION: [
    whole(1, 1_000_000).default(10_000),
    "`10000`",
    "Open WebSocket connections for one organization, in one process.",
  ],
} as const;
