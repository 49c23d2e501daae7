// `npm run licences`
import { licenses } from "./licences.mjs";

const { text, refused } = licenses();
process.stdout.write(text);
if (refused.length > 0) {
  console.error(`These licenses are not allowed:\n  ${refused.join("\n  ")}`);
  process.exitCode = 1;
}
