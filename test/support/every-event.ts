import type { RunningApp } from "./app";
import { eventsOf, place, speaker, type Event } from "./calls";
import { Receiver } from "./receiver";
import { talk } from "./talk";
import { until } from "./until";

/** Causes every event by a conversation with a function and a simulated call. @returns the events of each by its id */
export async function causeEveryEvent(running: RunningApp): Promise<ReadonlyMap<string, Event[]>> {
  const { api } = running;
  const server = await new Receiver((res) => res.end("{}")).start();
  const functions = [
    {
      name: "find_order",
      parameters: { type: "object", properties: { number: { type: "string" } } },
      serverUrl: server.url,
    },
  ];
  const replies = [{ call: "find_order", arguments: '{"number":"7"}' }, { text: ["It has been sent."] }];
  const { model, chatId, say } = await talk(running, replies, {
    configuration: { functions, initialMessage: "Hello! How can I help you today?" },
    start: { channel: "TEXT", userId: "user-1" },
  });
  await say("Where is my order?");
  await api.post(`/rest/v1/ai-chats/${chatId}/end`, undefined, 200);
  await Promise.all([model.stop(), server.stop()]);
  const callId = await place(api, await speaker(api), "+12025550100");
  await until(async () => (await eventsOf(api, callId)).some(({ name }) => name === "call-recording"));
  return new Map([
    [chatId, await eventsOf(api, chatId)],
    [callId, await eventsOf(api, callId)],
  ]);
}
