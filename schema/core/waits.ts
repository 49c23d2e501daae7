/**
 * Operations that wait for HTTP requests of their own, so that no transaction of the database may be open meanwhile:
 * always, or if one of the named arguments is true.
 */
export const WAITS: Readonly<Record<string, true | readonly string[]>> = {
  connectTelephony: true,
  deleteFile: true,
  importFile: true,
  postMessage: ["wait", "withReply"],
  startWebCall: true,
  startWidgetCall: true,
  testFunction: true,
  testModel: true,
  testToolServer: true,
  updateTelephonyConnection: true,
  uploadFile: true,
};

/** Whether an operation waits for HTTP requests with these arguments. */
export function waitsFor(operation: string, args: Readonly<Record<string, unknown>>): boolean {
  const waits = WAITS[operation] ?? [];
  return waits === true || waits.some((name) => args[name] === true);
}
