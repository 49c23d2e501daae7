import { currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";

/** How long a download link works, in milliseconds. */
const LINK_LIFETIME_MS = 3_600_000;

export interface DownloadLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** A link to a path of this service that needs no credential and ends after an hour, or sooner. */
export function downloadLink({ ports }: Scope, path: string, latest?: Date): DownloadLink {
  const { crypto, publicUrl } = ports;
  const ends = Math.min(currentTime() + LINK_LIFETIME_MS, latest?.getTime() ?? Infinity);
  const expiresAt = new Date(Math.ceil(ends / 1000) * 1000);
  const expires = String(expiresAt.getTime() / 1000);
  const url = `${publicUrl()}${path}?expires=${expires}&signature=${crypto.sign(`${path}?${expires}`)}`;
  return { url, expiresAt };
}
