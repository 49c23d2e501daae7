const WAIT_SECONDS = 600;

/** An address without a slash at its end. @throws Error with the usage */
export function addressOf(option: string, text: string, usage: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(
      `${option} must be a URL that begins with http:// or https://; got "${text}".\nUsage: ${usage}`,
    );
  const [, address] = /^(.*)\/(?:rest(?:\/v1)?|graphql)\/*$/.exec(text) ?? [];
  if (address !== undefined)
    throw new Error(
      `${option} must be the address without a path of an interface: ${option} ${address}\nUsage: ${usage}`,
    );
  return text.replace(/\/$/, "");
}

/** The longest wait for a service, in seconds. @throws Error with the usage */
export function waitOf(wait: string | undefined, usage: string): number {
  if (wait === undefined) return WAIT_SECONDS;
  if (!/^\d{1,6}$/.test(wait))
    throw new Error(`--wait must be a whole number of seconds; got "${wait}".\nUsage: ${usage}`);
  return Number(wait);
}
