/** Names of CSS colors. */
const NAMES = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
  darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
  darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
  firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
  hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
  lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
  mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
  midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
  palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
  rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue
  slategray slategrey snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat white
  whitesmoke yellow yellowgreen`.split(/\s+/),
);

const HEX = /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/;
const FUNCTION = /^([a-z]{3,5})\(([^()]*)\)$/;
const NUMBER = /^[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})$/;
const PERCENTAGE = /^[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})%$/;
const EITHER = /^[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})%?$/;
const ANGLE = /^[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})(?:deg|grad|rad|turn)?$/;

type Form = readonly [RegExp, RegExp, RegExp];
const RGB: readonly Form[] = [
  [NUMBER, NUMBER, NUMBER],
  [PERCENTAGE, PERCENTAGE, PERCENTAGE],
];
const HSL: readonly Form[] = [[ANGLE, PERCENTAGE, PERCENTAGE]];
const LAB: readonly Form[] = [[EITHER, EITHER, EITHER]];
const LCH: readonly Form[] = [[EITHER, EITHER, ANGLE]];

/** Functions and the forms of their components. Spaces separate components; a slash precedes the opacity. */
const FUNCTIONS: Readonly<Record<string, readonly Form[]>> = {
  ...{ rgb: RGB, rgba: RGB, hsl: HSL, hsla: HSL, hwb: HSL },
  ...{ lab: LAB, oklab: LAB, lch: LCH, oklch: LCH },
};
/** Functions whose components may also be separated by commas. */
const WITH_COMMAS = ["rgb", "rgba", "hsl", "hsla"];

/** In characters. */
const MAX_LENGTH = 100;

/** Whether a value is a CSS color that browsers parse without a document: no variables or system colors. */
export function isColor(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_LENGTH) return false;
  const color = value.trim().toLowerCase();
  if (NAMES.has(color) || HEX.test(color)) return true;
  const [, name = "", list = ""] = FUNCTION.exec(color) ?? [];
  const components = componentsOf(name, list);
  if (!components || !Object.hasOwn(FUNCTIONS, name)) return false;
  const [parts, opacity] = components;
  return (
    parts.length === 3 &&
    (opacity === undefined || EITHER.test(opacity)) &&
    FUNCTIONS[name]!.some((form) => form.every((fits, index) => fits.test(parts[index]!)))
  );
}

function componentsOf(name: string, list: string): readonly [string[], string?] | undefined {
  if (list.includes(",")) {
    const parts = list.split(",").map((part) => part.trim());
    return WITH_COMMAS.includes(name) && parts.length <= 4 ? [parts.slice(0, 3), parts[3]] : undefined;
  }
  const [parts = "", opacity, ...more] = list.split("/").map((part) => part.trim());
  return more.length === 0 ? [parts.split(/\s+/), opacity] : undefined;
}
