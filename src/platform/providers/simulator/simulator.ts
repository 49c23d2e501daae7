import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { namesOf, readMessage } from "../vapi/read-message";
import { answerMessage } from "../vapi/answer-message";
import { CallRefused, type VoiceEngine } from "../../ports/voice-engine";
import { behaviorOf, isMagic } from "./behavior";
import { readScript } from "./script";
import { SimulatedCall, type SimulatorOptions } from "./simulated-call";

const MAX_CALLS = 10_000;

/**
 * A voice engine that dials nobody. It plays both sides of a call and sends callbacks in the format of a real engine over
 * HTTP to its own server. Calls exist only in memory: if the process dies, their callbacks stop.
 */
export function simulator(options: SimulatorOptions): VoiceEngine {
  const calls = new LRUCache<string, SimulatedCall>({ max: MAX_CALLS });
  return {
    name: "simulator",
    real: false,
    takes: isMagic,
    problemOf: (metadata) => {
      const { problem } = readScript(metadata);
      return problem === undefined ? undefined : `metadata.simulatedCustomer ${problem}.`;
    },
    async place(order, signal) {
      const { goes, placingSeconds } = behaviorOf(order.phoneNumber);
      if (goes === "refused") throw new CallRefused("The simulator refuses to dial this number.");
      const call = new SimulatedCall(order, options);
      calls.set(order.callId, call);
      void call.run();
      if (placingSeconds > 0) await sleep((placingSeconds * 1_000) / options.speed, undefined, { signal });
      return call.engineCall;
    },
    web: undefined,
    find: ({ callId }) => Promise.resolve(calls.get(callId)?.engineCall),
    hangUp: ({ callId }) => Promise.resolve(calls.get(callId)?.hangUp("manually-canceled")),
    erase: ({ callId }) => {
      calls.delete(callId);
      return Promise.resolve();
    },
    read: readMessage,
    names: namesOf,
    answer: answerMessage,
    close: () => {
      for (const call of calls.values()) call.kill();
      return Promise.resolve();
    },
  };
}
