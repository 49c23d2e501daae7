import { invalid, type DomainError } from "../../platform/errors";
import { bodyProblem } from "./library-messages";

/** The error of a form that cannot be read. @param reason the message of the parser */
export const unreadableForm = (reason: string): DomainError =>
  invalid([{ path: "", message: bodyProblem(reason) ?? `the form cannot be read: ${reason.slice(0, 200)}` }]);
