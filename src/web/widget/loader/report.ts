const PREFIX = "[CompanionWidget]";

export const complain = (what: string, error?: unknown): void =>
  console.error(...(error === undefined ? [`${PREFIX} ${what}`] : [`${PREFIX} ${what}`, error]));

export const remark = (what: string): void => console.info(`${PREFIX} ${what}`);

/** Wraps a function: its errors go to the console and never reach the page. */
export function guarded<A extends unknown[]>(
  where: string,
  work: (...args: A) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      work(...args);
    } catch (error) {
      complain(`${where} failed.`, error);
    }
  };
}
