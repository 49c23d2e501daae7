// Runs the benchmark, or its named parts (`npm run bench -- calls`), after bundling its TypeScript into dist/bench.
// `npm run bench` builds the service first.
import { bundleAndRun } from "../support/bundle.mjs";

await bundleAndRun("bench", ["main", "baseline", "load", "poster", "peers/l0", "peers/l1", "peers/apollo"]);
