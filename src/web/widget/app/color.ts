/** Red, green and blue, 0 to 255 each. */
export type Color = readonly [number, number, number];

export const WHITE: Color = [255, 255, 255];
export const INK: Color = [17, 20, 28];

/** Parses any CSS color, blended with white if it is transparent; undefined if it is not valid. */
export function colorOf(value: unknown): Color | undefined {
  if (typeof value !== "string" || value.length > 100) return undefined;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return undefined;
  const parsed = (before: string) => {
    context.fillStyle = before; // stays if the next assignment is invalid
    context.fillStyle = value;
    return context.fillStyle;
  };
  if (parsed("#000000") !== parsed("#ffffff")) return undefined;
  const color = context.fillStyle;
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, 1, 1);
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

export const hex = (color: Color): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** Mixes two colors. @param share share of the second color, 0 to 1 */
export const mix = (first: Color, second: Color, share: number): Color => {
  const part = (index: 0 | 1 | 2) => Math.round(first[index] + (second[index] - first[index]) * share);
  return [part(0), part(1), part(2)];
};

/** Relative luminance as defined by WCAG 2.2, 0 to 1. */
export function luminance(color: Color): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio as defined by WCAG 2.2, 1 to 21. */
export function contrast(first: Color, second: Color): number {
  const [dark = 0, light = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** White or ink, whichever is more readable on the background. */
export const readableOn = (ground: Color): Color =>
  contrast(WHITE, ground) >= 4.5 || contrast(WHITE, ground) >= contrast(INK, ground) ? WHITE : INK;

/** Moves a color towards black or white until its contrast with every background reaches the ratio. */
export function legible(color: Color, grounds: readonly Color[], ratio: number): Color {
  const isLegible = (candidate: Color) => grounds.every((ground) => contrast(candidate, ground) >= ratio);
  const extreme = luminance(grounds[0] ?? WHITE) > 0.18 ? ([0, 0, 0] as const) : WHITE;
  for (let share = 0; share < 1; share += 0.04) {
    const candidate = mix(color, extreme, share);
    if (isLegible(candidate)) return candidate;
  }
  return extreme;
}
