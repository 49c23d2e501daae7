const PREFIX = "[CompanionWidget]";

export const complain = (what: string, error?: unknown): void =>
  console.error(...(error === undefined ? [`${PREFIX} ${what}`] : [`${PREFIX} ${what}`, error]));

export const remark = (what: string): void => console.info(`${PREFIX} ${what}`);

/** Whatever goes wrong inside is told on the console; the page around goes on. */
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
