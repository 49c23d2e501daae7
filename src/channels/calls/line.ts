import type { Scope } from "../../platform/database/scope";
import type { CallingNumber } from "../../platform/ports/voice-engine";
import { countryOf } from "../../assistants/telephony/connection-row";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";

/** The number that calls are placed from. Dialing limits are counted per line. */
export interface Line {
  readonly id: string;
  /** A connected number of the organization; without it the engine uses the number from the server's settings. */
  readonly from?: CallingNumber;
  /** ISO 3166-1 code of the line's country; the only country that may be called if the settings name none. */
  readonly country?: string;
}

/** The number from the server's settings. */
const SERVER_LINE: Line = { id: "server" };

/**
 * The line for a new call with an assistant: a number connected by the organization, else the server's.
 * @param connectionId preferred number; ignored if it is no longer connected
 */
export async function lineFor(scope: Scope, assistantId: string, connectionId?: string): Promise<Line> {
  const connections = scope.of(TelephonyConnections);
  const wanted = connectionId === undefined ? undefined : await connections.find(connectionId);
  const connection = wanted ?? (await connections.forCalls(assistantId));
  if (!connection) return SERVER_LINE;
  const country = countryOf(connection.phoneNumber);
  return { id: connection.id, ...(country !== undefined && { country }) };
}

/** The line with this id, with its current credentials; undefined if it has been disconnected. */
export async function lineById(scope: Scope, id: string): Promise<Line | undefined> {
  if (id === SERVER_LINE.id) return SERVER_LINE;
  const own = await scope.of(TelephonyConnections).lineOf(id);
  if (!own) return undefined;
  const { phoneNumber, accountSid, authToken } = own;
  return { id, from: { phoneNumber, accountSid, authToken } };
}
