// Runs the benchmark, or the part of it that is named (`npm run bench -- calls`): its TypeScript is bundled into dist/bench first. `npm run bench` builds the service before.
import { bundleAndRun } from "../support/bundle.mjs";

await bundleAndRun("bench", ["main", "baseline", "load"]);
