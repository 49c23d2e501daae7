import { userInfo } from "node:os";

/** Name of the user that runs this process, or its number if it has no name. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown"); // a container may run as a number without an account
  }
}
