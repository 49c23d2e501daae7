/** Loads a large package when it is first needed, instead of with the server. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import() would need another module system in tests
export const load = <M>(name: string): M => require(name) as M;
