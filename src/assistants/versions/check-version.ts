import { DomainError } from "../../platform/errors";

/** @throws VERSION_CONFLICT if another version than the wanted one is current */
export function checkVersion(number: number, wanted: number | null | undefined): void {
  if (wanted != null && number !== wanted) throw conflict(number, wanted);
}

const conflict = (current: number, wanted: number) =>
  new DomainError(
    "VERSION_CONFLICT",
    `The assistant is at version ${current}, not ${wanted}. Compare your change with version ${current}, then send it again with ifVersion: ${current}.`,
  );
