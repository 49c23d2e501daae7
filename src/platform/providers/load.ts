/** Loads a large package on first use instead of at startup. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import() would need another module system in tests
export const load = <M>(name: string): M => require(name) as M;
