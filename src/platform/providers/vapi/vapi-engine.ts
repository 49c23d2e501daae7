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
  /** Number at Vapi to call from where the customer has none of their own. */
  readonly phoneNumberId?: string;
  /** Opens calls from web pages; without it they are held on a page of this service. */
  readonly publicKey?: string;
}

/** What of a call at Vapi is looked at. */
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

/** What goes out with a request. */
interface Given {
  readonly body?: Json;
  /** Of the body, in what is told of a refusal they must not stand. */
  readonly secrets?: readonly string[];
  readonly key?: string;
}

const secretsOf = ({ from, callbacks }: Pick<PhoneCallOrder, "from" | "callbacks">): string[] => [
  ...(from ? [from.authToken] : []),
  ...Object.values(callbacks.headers),
];

/** Most calls in one answer of Vapi's list, and most such answers that are looked through for one call. */
const LISTED = 1_000;
const LISTS = 10;
/** Clocks differ: calls are looked for from this long before they were asked for, in milliseconds. */
const CLOCKS = 60_000;
/** Of a refusal this much is told. */
const REASON_LENGTH = 300;

/** Calls by Vapi's REST API, as its OpenAPI description has it. @param reach goes to the addresses that the settings name */
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
        "There is no number to call from: VAPI_PHONE_NUMBER_ID is not set.",
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
              smsEnabled: false, // else Vapi makes itself the one whom Twilio brings the number's texts to
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
    const from = new Date(since.getTime() - CLOCKS).toISOString();
    let until: string | undefined;
    for (let list = 0; list < LISTS; list++) {
      const query = new URLSearchParams({
        createdAtGe: from,
        limit: String(LISTED),
        ...(until && { createdAtLe: until }),
      });
      const calls =
        (await this.send<VapiCall[] | undefined>("GET", `/call?${query.toString()}`, signal)) ?? [];
      const found = calls.find((call) => namesOf({ call }).callId === callId);
      if (found || calls.length < LISTED) return found;
      until = calls.map(({ createdAt = from }) => createdAt).sort()[0];
    }
    return undefined;
  }

  /** Vapi ends a call at an address that the call itself has. */
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

  /** @returns undefined for 404 on reading and deleting. @throws CallRefused where Vapi took the request and said no */
  private async send<T>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    signal: AbortSignal,
    { body, secrets = [], key = this.settings.apiKey }: Given = {},
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
    const reason = [...secrets, key].reduce((told, secret) => told.replaceAll(secret, "…"), text);
    const message = `Vapi answered with status ${answer.status}: ${reason.slice(0, REASON_LENGTH)}`;
    // 408, 409, 425 and 429 may be answered differently later.
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
  // A call that was removed there is over; one that is scheduled waits.
  const gone = status === "not-found" || status === "deletion-failed";
  const known = STATUSES.includes(status) ? (status as EngineStatus) : gone ? "ended" : "queued";
  return { id, status: known, ...(endedReason !== undefined && { endedReason }) };
}
