export default async function teardown(): Promise<void> {
  await (globalThis as unknown as { stopTestPostgres: () => Promise<void> }).stopTestPostgres();
}
