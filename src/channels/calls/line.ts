import type { Scope } from "../../platform/database/scope";
import type { CallingNumber } from "../../platform/ports/voice-engine";
import { countryOf } from "../../assistants/telephony/connection-row";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";

/** The number that calls go out from: the limits of dialling are counted for each. */
export interface Line {
  readonly id: string;
  /** The customer's own; without it the engine calls from the number of the server's settings. */
  readonly from?: CallingNumber;
  /** ISO 3166-1; its numbers may be called where the settings name no countries. */
  readonly country?: string;
}

/** The server's own number. */
const SERVER_LINE: Line = { id: "server" };

/**
 * The line that a new call with an assistant goes out from: a number that the organization connected, else the server's.
 * @param connectionId the number that is wanted, where it is still connected
 */
export async function lineFor(scope: Scope, assistantId: string, connectionId?: string): Promise<Line> {
  const connections = scope.of(TelephonyConnections);
  const wanted = connectionId === undefined ? undefined : await connections.find(connectionId);
  const connection = wanted ?? (await connections.forCalls(assistantId));
  if (!connection) return SERVER_LINE;
  const country = countryOf(connection.phoneNumber);
  return { id: connection.id, ...(country !== undefined && { country }) };
}

/** A line by its id, as it stands when it is dialled; undefined when it was disconnected since. */
export async function lineById(scope: Scope, id: string): Promise<Line | undefined> {
  if (id === SERVER_LINE.id) return SERVER_LINE;
  const own = await scope.of(TelephonyConnections).lineOf(id);
  if (!own) return undefined;
  const { phoneNumber, accountSid, authToken } = own;
  return { id, from: { phoneNumber, accountSid, authToken } };
}
