import {
  CallRefused,
  type CallOrder,
  type CallReference,
  type EngineCall,
  type EngineStatus,
  type PhoneCallOrder,
  type VoiceEngine,
} from "../../ports/voice-engine";
import { answerMessage } from "./answer-message";
import { assistantOf, cut } from "./assistant-of";
import { namesOf, readMessage } from "./read-message";

type Json = Record<string, unknown>;

export interface VapiSettings {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Id of the number at Vapi to call from if the customer has no number. */
  readonly phoneNumberId?: string;
  /** Public key for calls from web pages; without it they use the browser's own speech on a page of this service. */
  readonly publicKey?: string;
}

/** A call at Vapi, with the fields that are used. */
interface VapiCall {
  readonly id: string;
  readonly status?: string;
  readonly endedReason?: string;
  readonly createdAt?: string;
  readonly name?: string;
  readonly webCallUrl?: string;
  readonly transport?: { readonly callUrl?: string };
  readonly monitor?: { readonly controlUrl?: string };
}

/** Optional parts of a request. */
interface RequestOptions {
  readonly body?: Json;
  /** Secrets in the body, which are removed from error messages. */
  readonly secrets?: readonly string[];
  readonly key?: string;
}

const secretsOf = ({ from, callbacks }: Pick<PhoneCallOrder, "from" | "callbacks">): string[] => [
  ...(from ? [from.authToken] : []),
  ...Object.values(callbacks.headers),
];

/** Page size of Vapi's list of calls, and the number of pages that are searched for a call. */
const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;
/** Tolerance for differences between Vapi's clock and ours. */
const CLOCK_TOLERANCE_MS = 60_000;
/** Longest part of Vapi's error message that is reported. */
const MAX_REASON_LENGTH = 300;

/** Calls by Vapi's REST API, following its OpenAPI description. @param reach a `fetch` that may reach the configured addresses */
export function vapiEngine(settings: VapiSettings, reach: typeof fetch): VoiceEngine {
  const api = new VapiApi(settings, reach);
  const { publicKey } = settings;
  return {
    name: "vapi",
    real: true,
    takes: () => false,
    place: (order, signal) => api.place(order, signal),
    web: publicKey === undefined ? undefined : (order, signal) => api.web(order, publicKey, signal),
    find: async (call, signal) => {
      const found = await api.find(call, signal);
      return found && engineCall(found);
    },
    hangUp: (call, signal) => api.hangUp(call, signal),
    erase: (call, signal) => api.erase(call, signal),
    read: readMessage,
    names: namesOf,
    answer: answerMessage,
    close: () => Promise.resolve(),
  };
}

class VapiApi {
  constructor(
    private readonly settings: VapiSettings,
    private readonly reach: typeof fetch,
  ) {}

  async place(order: PhoneCallOrder, signal: AbortSignal): Promise<EngineCall> {
    const { phoneNumberId } = this.settings;
    const { callId, phoneNumber, from, userName, externalId } = order;
    if (!from && phoneNumberId === undefined)
      throw new CallRefused(
        "No number to call from: set VAPI_PHONE_NUMBER_ID or connect a telephone number.",
        "no-phone-number",
      );
    const body = {
      name: callId,
      ...(from
        ? {
            phoneNumber: {
              twilioPhoneNumber: from.phoneNumber,
              twilioAccountSid: from.accountSid,
              twilioAuthToken: from.authToken,
              smsEnabled: false, // otherwise Vapi redirects the number's incoming texts to itself
            },
          }
        : { phoneNumberId }),
      customer: {
        number: phoneNumber,
        ...(userName !== undefined && { name: cut(userName) }),
        ...(externalId !== undefined && { externalId: cut(externalId) }),
      },
      assistant: assistantOf(order),
    };
    return engineCall(
      await this.send<VapiCall>("POST", "/call", signal, { body, secrets: secretsOf(order) }),
    );
  }

  async web(order: CallOrder, publicKey: string, signal: AbortSignal): Promise<EngineCall & { url: string }> {
    const body = { assistant: assistantOf(order) };
    const given = { body, secrets: secretsOf(order), key: publicKey };
    const call = await this.send<VapiCall>("POST", "/call/web", signal, given);
    const url = call.webCallUrl ?? call.transport?.callUrl;
    if (url === undefined) throw new Error("Vapi opened a web call without an address.");
    return { ...engineCall(call), url };
  }

  async find(
    { callId, engineCallId, since }: CallReference,
    signal: AbortSignal,
  ): Promise<VapiCall | undefined> {
    if (engineCallId !== undefined)
      return this.send<VapiCall | undefined>("GET", `/call/${encodeURIComponent(engineCallId)}`, signal);
    const from = new Date(since.getTime() - CLOCK_TOLERANCE_MS).toISOString();
    let until: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = new URLSearchParams({
        createdAtGe: from,
        limit: String(PAGE_SIZE),
        ...(until && { createdAtLe: until }),
      });
      const calls =
        (await this.send<VapiCall[] | undefined>("GET", `/call?${query.toString()}`, signal)) ?? [];
      const found = calls.find((call) => namesOf({ call }).callId === callId);
      if (found || calls.length < PAGE_SIZE) return found;
      until = calls.map(({ createdAt = from }) => createdAt).sort()[0];
    }
    return undefined;
  }

  /** Ends a call by a request to the control address of the call. */
  async hangUp(call: CallReference, signal: AbortSignal): Promise<void> {
    const found = await this.find(call, signal);
    const url = found?.monitor?.controlUrl;
    if (!found || found.status === "ended" || url === undefined) return;
    const answer = await this.reach(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type: "end-call" }),
      signal,
    });
    await answer.text();
    if (answer.status >= 500) throw new Error(`Vapi did not end the call: status ${answer.status}.`);
  }

  async erase(call: CallReference, signal: AbortSignal): Promise<void> {
    const found = await this.find(call, signal);
    if (found) await this.send("DELETE", `/call/${encodeURIComponent(found.id)}`, signal);
  }

  /** @returns undefined for status 404 of GET and DELETE. @throws CallRefused if Vapi refused a POST permanently */
  private async send<T>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    signal: AbortSignal,
    { body, secrets = [], key = this.settings.apiKey }: RequestOptions = {},
  ): Promise<T> {
    const answer = await this.reach(this.settings.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as T;
    if (method !== "POST" && answer.status === 404) return undefined as T;
    const reason = [...secrets, key].reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
    const message = `Vapi answered with status ${answer.status}: ${reason.slice(0, MAX_REASON_LENGTH)}`;
    // A retry may succeed after 408, 409, 425 and 429.
    const refused =
      method === "POST" &&
      answer.status >= 400 &&
      answer.status < 500 &&
      ![408, 409, 425, 429].includes(answer.status);
    throw refused ? new CallRefused(message) : new Error(message);
  }
}

const STATUSES: readonly string[] = ["queued", "ringing", "in-progress", "forwarding", "ended"];

function engineCall({ id, status = "queued", endedReason }: VapiCall): EngineCall {
  if (typeof id !== "string") throw new Error("Vapi answered without the id of a call.");
  // A deleted call has ended. Other unknown statuses, such as scheduled, count as queued.
  const gone = status === "not-found" || status === "deletion-failed";
  const known = STATUSES.includes(status) ? (status as EngineStatus) : gone ? "ended" : "queued";
  return { id, status: known, ...(endedReason !== undefined && { endedReason }) };
}
