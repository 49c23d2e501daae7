import { currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";

const LINK_LIFETIME_MS = 3_600_000;

export interface DownloadLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** A signed link to a path of this service. It needs no credential and expires after an hour, or at `latest`. */
export function downloadLink({ ports }: Scope, path: string, latest?: Date): DownloadLink {
  const { crypto, publicUrl } = ports;
  const ends = Math.min(currentTime() + LINK_LIFETIME_MS, latest?.getTime() ?? Infinity);
  const expiresAt = new Date(Math.ceil(ends / 1000) * 1000);
  const expires = String(expiresAt.getTime() / 1000);
  const url = `${publicUrl()}${path}?expires=${expires}&signature=${crypto.sign(`${path}?${expires}`)}`;
  return { url, expiresAt };
}
