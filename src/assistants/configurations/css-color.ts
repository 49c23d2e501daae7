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
const NUMBER = String.raw`[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})`;
const PERCENTAGE = `${NUMBER}%`;
const ANGLE = `${NUMBER}(?:deg|grad|rad|turn)?`;
const ANY = `${NUMBER}%?`;

/** Functions with the forms of their three components: with commas, or else with spaces and a slash. */
const FUNCTIONS: readonly (readonly [
  name: string,
  forms: readonly (readonly string[])[],
  commas: boolean,
])[] = [
  [
    "rgba?",
    [
      [NUMBER, NUMBER, NUMBER],
      [PERCENTAGE, PERCENTAGE, PERCENTAGE],
    ],
    true,
  ],
  ["hsla?", [[ANGLE, PERCENTAGE, PERCENTAGE]], true],
  ["hwb", [[ANGLE, PERCENTAGE, PERCENTAGE]], false],
  ["(?:ok)?lab", [[ANY, ANY, ANY]], false],
  ["(?:ok)?lch", [[ANY, ANY, ANGLE]], false],
];

const PATTERNS = FUNCTIONS.flatMap(([name, forms, commas]) =>
  forms.flatMap((components) => [
    new RegExp(`^${name}\\( ?${components.join(" ")}(?: ?/ ?${ANY})? ?\\)$`),
    ...(commas ? [new RegExp(`^${name}\\( ?${components.join(" ?, ?")}(?: ?, ?${ANY})? ?\\)$`)] : []),
  ]),
);

/** In characters. */
const MAX_LENGTH = 100;

/** Whether a value is a CSS color that browsers parse without a document: no variables, and no colors of the system. */
export function isColor(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_LENGTH) return false;
  const color = value.trim().toLowerCase().replace(/\s+/g, " ");
  return NAMES.has(color) || HEX.test(color) || PATTERNS.some((pattern) => pattern.test(color));
}
