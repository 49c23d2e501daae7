// Runs the soak test: `npm run soak -- --minutes 30`. Bundles its TypeScript into dist/soak first.
import { bundleAndRun } from "../support/bundle.mjs";

await bundleAndRun("soak", ["main"]);
