// The thread that checks the arguments of functions by schemas that tenants wrote. Whoever starts it ends it when an
// answer takes too long (src/platform/providers/check-lane.ts).
import { parentPort } from "node:worker_threads";
import type { CheckQuestion } from "../ports/argument-checker";
import { checkArguments } from "./check-arguments";

parentPort!.on("message", (question: CheckQuestion) => parentPort!.postMessage(checkArguments(question)));
parentPort!.postMessage("ready");
