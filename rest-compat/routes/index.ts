import { assistants } from "./assistants";
import { callbacks } from "./callbacks";
import { calls } from "./calls";
import { chats } from "./chats";
import { configurations } from "./configurations";
import { files } from "./files";
import { logs } from "./logs";
import { organization } from "./organization";
import { settings } from "./settings";

/** All REST routes of the service. */
export const routes = [
  ...assistants,
  ...configurations,
  ...logs,
  ...settings,
  ...organization,
  ...chats,
  ...files,
  ...calls,
  ...callbacks,
];

/** Ids of all routes; tests need an example for each. */
export type RouteId = (typeof routes)[number]["id"];
