// `npm pack` runs this after the build: packages and pages contain code of others, whose notices must be with it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { licenses } from "./licences.mjs";
import { ROOT } from "./packages.mjs";

const { text, refused } = licenses();
if (refused.length > 0) throw new Error(`These licenses are not allowed: ${refused.join(", ")}`);
writeFileSync(join(ROOT, "dist/THIRD-PARTY-LICENSES.txt"), text);
