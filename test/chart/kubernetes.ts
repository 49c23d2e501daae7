import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "./render";

/** Beside the packages with the types and schemas; see check.mjs. */
const FOLDER = "dist/chart";
const PROGRAM = join(FOLDER, "manifests");

/** Packages of objects that are not part of Kubernetes, by their group. */
const PACKAGES: Readonly<Record<string, string>> = {
  "keda.sh": "@kubernetes-models/keda/",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator/",
};

/**
 * Checks objects by a program of TypeScript: its compiler finds fields that do not exist, which the schemas accept, and
 * the schemas find values that do not fit. @returns what they print
 */
export function problemsOf(manifests: readonly Manifest[]): string {
  const lines = manifests.map(({ apiVersion, kind, ...rest }, number) => {
    const module = `${PACKAGES[apiVersion.split("/")[0]!] ?? "kubernetes-models/"}${apiVersion}`;
    const object = JSON.stringify({ apiVersion, kind, ...rest }, null, 1);
    return `import { ${kind} as K${number}, type I${kind} as I${number} } from "${module}";
const m${number}: I${number} = ${object};
new K${number}(m${number}).validate();`;
  });
  writeFileSync(`${PROGRAM}.mts`, lines.join("\n"));
  const options = [
    "--ignoreConfig",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2022",
  ];
  const run = (program: string, args: readonly string[] = []) => {
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
    return stdout + stderr;
  };
  return run("node_modules/typescript/bin/tsc", [...options, `${PROGRAM}.mts`]) + run(`${PROGRAM}.mjs`);
}
