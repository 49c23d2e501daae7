import { parsePhoneNumberFromString, type CountryCode, type NumberType } from "libphonenumber-js/max";
import type { Scope } from "../../platform/database/scope";
import { invalid } from "../../platform/errors";
import type { Line } from "./line";

const E164 = /^\+[1-9]\d{1,14}$/;
/** A country calling code of one to three digits, followed by an emergency number. */
const EMERGENCY = /^\+[1-9]\d{0,2}(000|08|10[0-9]|11[0-9]|122|133|144|15|17|18|19[0-9]|911|99[0-9])$/;
/** Shortest national number of a subscriber, in digits. */
const MIN_NATIONAL_DIGITS = 6;
const COSTLY: readonly (NumberType | undefined)[] = ["PREMIUM_RATE", "SHARED_COST"];

/** Satellite phones and other global services belong to no country, so allowlists never include them. */
const NO_COUNTRY = "no country";

/**
 * Checks that a number may be called.
 * @param line the line to call from; its country is the only one that may be called if the settings name none
 * @throws BAD_USER_INPUT naming the field and the violated rule
 */
export function checkPhoneNumber(
  { ports }: Pick<Scope, "ports">,
  phoneNumber: string,
  line: Pick<Line, "country">,
): void {
  const { engine, countries } = ports.voice;
  if (engine.takes(phoneNumber)) return;
  const message = problemWith(phoneNumber) ?? countryProblem(phoneNumber, countries, line);
  if (message !== undefined) throw invalid([{ path: "phoneNumber", message }]);
}

function problemWith(text: string): string | undefined {
  if (!E164.test(text)) return "must be in E.164 form: + and 2 to 15 digits, such as +14155550132";
  if (EMERGENCY.test(text)) return "must not be an emergency number";
  const number = parsePhoneNumberFromString(text);
  if (!number) return "must be a telephone number: no country has this calling code, or it is too short";
  if (number.nationalNumber.length < MIN_NATIONAL_DIGITS && !number.isValid())
    return "must not be a short number";
  if (!number.isValid()) return "must be a valid number of its country";
  if (COSTLY.includes(number.getType())) return "must not be a premium-rate or shared-cost number";
  return undefined;
}

/** @param allowed ISO 3166-1 codes of the countries that may be called, from the settings */
function countryProblem(
  phoneNumber: string,
  allowed: readonly string[] | undefined,
  line: Pick<Line, "country">,
): string | undefined {
  const countries = allowed ?? (line.country === undefined ? undefined : [line.country]);
  const country: CountryCode | undefined = parsePhoneNumberFromString(phoneNumber)?.country;
  if (countries === undefined || (country !== undefined && countries.includes(country))) return undefined;
  const own = allowed === undefined ? ", as the number that calls" : "";
  const remedy = country === undefined ? "" : ", unless the operator adds it to CALL_COUNTRIES";
  return `must be a number of ${countries.join(", ")}${own}: calls to ${country ?? NO_COUNTRY} are not allowed${remedy}`;
}
