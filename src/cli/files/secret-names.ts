import { visit } from "yaml";
import { variablesIn } from "./variables";
import type { YamlFile } from "./yaml-file";

/** Names of environment variables for the secrets of a folder: no two secrets get the same one. */
export class SecretNames {
  private readonly taken = new Set<string>();

  /** @param files whose variables no new secret gets */
  constructor(files: readonly YamlFile[]) {
    for (const { document } of files)
      visit(document, {
        Scalar: (_, { value }) => {
          if (typeof value === "string") for (const name of variablesIn(value)) this.taken.add(name);
        },
      });
  }

  /** Takes a name: the given one or, if another secret has it, the next one with a number. */
  take(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.taken.has(name); number++) name = `${wanted}_${number}`;
    this.taken.add(name);
    return name;
  }
}

/** A secret, which gets a variable unless a file names one for it. */
export class NamedSecret {
  private name: string | undefined;

  constructor(
    private readonly wanted: string,
    private readonly names: SecretNames,
  ) {}

  get variable(): string {
    return (this.name ??= this.names.take(this.wanted));
  }
}
