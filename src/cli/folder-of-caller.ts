/** Makes relative paths begin where the operator is: npm runs scripts in the folder of the package. */
export function inFolderOfCaller(): void {
  const { INIT_CWD, PARLEY_COMMAND } = process.env;
  if (PARLEY_COMMAND === undefined && INIT_CWD !== undefined) process.chdir(INIT_CWD);
}
