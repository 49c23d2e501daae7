import type { Config } from "../config";
import { localStorage } from "./local-storage";
import type { Storage } from "./storage";

/** The storage that the settings name. */
export function openStorage(config: Pick<Config, "filesDir">): Storage {
  return localStorage(config.filesDir);
}
