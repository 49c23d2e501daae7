// Main program of the thread that checks arguments of functions against schemas of customers.
// src/platform/providers/check-lane.ts starts it, and terminates it if an answer takes too long.
import { parentPort } from "node:worker_threads";
import type { CheckQuestion } from "../ports/argument-checker";
import { checkArguments } from "./check-arguments";

parentPort!.on("message", (question: CheckQuestion) => parentPort!.postMessage(checkArguments(question)));
parentPort!.postMessage("ready");
