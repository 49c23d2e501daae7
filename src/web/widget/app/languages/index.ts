import type { Language } from "../../locale";
import type { Words } from "./words";
import { en } from "./en";
import { de } from "./de";
import { fr } from "./fr";
import { es } from "./es";
import { it } from "./it";
import { pt } from "./pt";
import { nl } from "./nl";
import { pl } from "./pl";
import { tr } from "./tr";
import { ar } from "./ar";
import { he } from "./he";
import { ja } from "./ja";
import { zh } from "./zh";
import { ko } from "./ko";

export type { Words };

/** Texts by language (BCP 47). */
export const WORDS = { en, de, fr, es, it, pt, nl, pl, tr, ar, he, ja, zh, ko } as const satisfies Readonly<
  Record<Language, Words>
>;
