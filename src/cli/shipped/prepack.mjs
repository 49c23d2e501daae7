// `npm pack` runs this after the build: it adds the client, and the notices of all packages whose code is shipped.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import "../../web/client/build.mjs";
import { licenses } from "./licences.mjs";
import { ROOT } from "./packages.mjs";

const { text, refused } = licenses();
if (refused.length > 0) throw new Error(`These licenses are not allowed: ${refused.join(", ")}`);
writeFileSync(join(ROOT, "dist/THIRD-PARTY-LICENSES.txt"), text);
