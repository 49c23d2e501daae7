import { areFunctions, type Change } from "./changes";
import { changesOfFiles } from "./file-changes";
import { changesOfFunctions } from "./function-changes";
import { isFields } from "./kinds";
import { withoutOldAddresses } from "./masked";

/** The changes as a plan shows them: function by function, and file by file. */
export async function shownChanges(changes: readonly Change[]): Promise<Change[]> {
  const all = changes.map(async (change) => partsOf(change));
  return (await Promise.all(all)).flat();
}

function partsOf(change: Change): Promise<Change[]> | Change[] {
  const { path, before, after } = change;
  if (path.join(".") === "files") return changesOfFiles(change);
  if (areFunctions(path)) return changesOfFunctions(change);
  return [
    {
      path,
      before: inOrderOf(withoutOldAddresses(before, after), [after]),
      after: inOrderOf(after, [after]),
    },
  ];
}

/** A value with its fields in the order of the file: elsewhere than in functions, their order is no difference. */
function inOrderOf(value: unknown, models: readonly unknown[]): unknown {
  if (Array.isArray(value)) {
    const entries = models.filter((model) => Array.isArray(model)).flat();
    return value.map((one) => inOrderOf(one, entries));
  }
  if (!isFields(value)) return value;
  const known = models.filter(isFields);
  const names = new Set([...known.flatMap((model) => Object.keys(model)), ...Object.keys(value)]);
  return Object.fromEntries(
    [...names]
      .filter((name) => Object.hasOwn(value, name))
      .map((name) => [
        name,
        inOrderOf(
          value[name],
          known.map((model) => model[name]),
        ),
      ]),
  );
}
