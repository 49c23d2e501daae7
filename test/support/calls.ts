import { expect } from "@jest/globals";
import type { Api } from "./api";
import { newAssistant } from "./factories";
import { until } from "./until";

/** Numbers of the simulator, by the outcome of their calls. */
export const NUMBER = {
  answers: "+12025550100",
  busy: "+12025550101",
  unanswered: "+12025550102",
  voicemail: "+12025550103",
  refused: "+12025550104",
  drops: "+12025550105",
  forwards: "+12025550106",
  late: "+12025550107",
  twice: "+12025550108",
  swapped: "+12025550109",
  endless: "+12025550110",
  slow: "+12025550111",
} as const;

/** Settings with which simulated calls take almost no time. */
export const FAST = { WORKER: "on", SIMULATOR_SPEED: "2000" } as const;

/** Creates an assistant with a voice configuration. @returns its id */
export async function speaker(
  api: Api,
  voice: object = {},
  assistant: object = { name: "Ada" },
): Promise<string> {
  const id = await newAssistant(api, assistant);
  await api.patch(`/rest/v1/assistants/${id}/voice`, voice, 200);
  return id;
}

/** Calls a number. @returns the call's id */
export async function place(
  api: Api,
  assistantId: string,
  phoneNumber: string,
  more: object = {},
): Promise<string> {
  const { id } = await api.post("/rest/v1/call/phone", { assistantId, phoneNumber, ...more }, 200);
  return id as string;
}

const CALL = `query ($id: ID!) { call(id: $id) {
  id kind status phoneNumber endedReason recordingUrl createdAt dialedAt answeredAt endedAt
  chat { status messages(last: 500) { role content metadata toolCalls } } } }`;

export const callOf = async (api: Api, id: string) => (await api.gql(CALL, { id })).call;

/** Waits until a call has ended. @returns the call */
export async function ended(api: Api, id: string) {
  await until(async () => (await callOf(api, id)).status === "ended");
  return callOf(api, id);
}

const EVENTS = `query ($id: ID!, $after: String) { events(first: 100, after: $after, filter: { chatId: $id }) {
  nodes { id name payload } pageInfo { hasNextPage endCursor } } }`;

export interface Event {
  readonly id: string;
  readonly name: string;
  readonly payload: {
    readonly event: string;
    readonly type: string;
    readonly data: Awaited<ReturnType<Api["gql"]>>;
  };
}

/** All events of a call, oldest first. */
export async function eventsOf(api: Api, id: string) {
  const found: Event[] = [];
  for (let after: string | null = null; ;) {
    const { events } = await api.gql(EVENTS, { id, after });
    found.push(...events.nodes);
    if (!events.pageInfo.hasNextPage) return found.reverse();
    after = events.pageInfo.endCursor;
  }
}

/** The statuses that a call went through. */
export const statusesOf = async (api: Api, id: string): Promise<string[]> =>
  (await eventsOf(api, id))
    .filter(({ name }) => name === "status-changed")
    .map(({ payload }) => payload.data.status);

/** The messages of both sides, as `ROLE: text`. */
export const said = (call: { chat: { messages: { role: string; content: string | null }[] } }): string[] =>
  call.chat.messages
    .filter(({ role, content }) => content !== null && role !== "TOOL")
    .map(({ role, content }) => `${role}: ${content}`);

export const FORWARD = ["queued", "ringing", "in-progress", "forwarding", "ended"];

/** Expects that the status only moves forward, and ends once. */
export function expectForward(statuses: readonly string[]): void {
  const ranks = statuses.map((status) => FORWARD.indexOf(status));
  expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b));
  expect(ranks).not.toContain(-1);
}
