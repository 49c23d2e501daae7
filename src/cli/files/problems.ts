/** Everything that is wrong with the files, one line each. Aliases stand for values at the same place. */
export class FileProblems extends Error {
  constructor(problems: readonly string[]) {
    super([...new Set(problems)].join("\n"));
    this.name = "FileProblems";
  }
}
