/** How the operator of an installed package runs it, such as `npx parley`; `src/cli/parley.cjs` sets it. */
const OWN_COMMAND = process.env.PARLEY_COMMAND;

/**
 * Names the commands in a text as this installation runs them: `npm run backup -- DIR` in a checkout is
 * `parley backup DIR` in a package.
 */
export function asInstalled(text: string, own = OWN_COMMAND): string {
  if (own === undefined) return text;
  return text
    .replace(/npm run (?:--silent )?parley --/g, own)
    .replace(/npm run (?:--silent )?([a-z]+(?::[a-z]+)?)(?: --(?= ))?/g, `${own} $1`)
    .replace(/npm start\b/g, own)
    .replaceAll("`-- --", "`--");
}
