// Runs the soak test: `npm run soak -- --minutes 30`. Its TypeScript is bundled into dist/soak first.
import { bundleAndRun } from "../support/bundle.mjs";

await bundleAndRun("soak", ["main"]);
