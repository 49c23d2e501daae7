// Stores what a version leaves in its database: see README.md. Bundles its TypeScript into dist/upgrades first.
import { bundleAndRun } from "../support/bundle.mjs";

await bundleAndRun("upgrades", ["main"]);
