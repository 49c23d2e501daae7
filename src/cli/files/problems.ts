/** Everything that is wrong with the files, one line each. */
export class FileProblems extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "FileProblems";
  }
}
