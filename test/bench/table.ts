/** A measurement: requests per second compared with the baseline, or a value, with a maximum or minimum if it has a target. */
export type Measurement =
  | { what: string; target: number; ours: number; baseline: number; ratio: number }
  | { what: string; ours: number; unit: string; most: number }
  | { what: string; ours: number; unit: string; least: number }
  | { what: string; ours: number; unit: string };

interface Round {
  readonly ours: number;
  readonly baseline: number;
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

/** The median of rounds, with the lowest and the highest. */
export function spread(numbers: readonly number[], digits: number): string {
  const [middle, least, most] = [median(numbers), Math.min(...numbers), Math.max(...numbers)];
  return `${middle.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

/**
 * Medians over rounds. The ratio is the median of the rounds' ratios, because other load affects both sides of a round.
 */
export function ratio(rounds: readonly Round[]) {
  return {
    ours: median(rounds.map(({ ours }) => ours)),
    baseline: median(rounds.map(({ baseline }) => baseline)),
    ratio: median(rounds.map(({ ours, baseline }) => ours / baseline)),
  };
}

function targetOf(measured: Extract<Measurement, { unit: string }>): string {
  if ("most" in measured) return `< ${measured.most} ${measured.unit}`;
  return "least" in measured ? `>= ${measured.least} ${measured.unit}` : "";
}

const HEAD = ["what", "ours", "baseline", "ratio", "target", ""];

/** The table at the end. */
export class Table {
  private readonly lines: string[][] = [];
  private readonly missed: string[] = [];

  add(measured: Measurement): void {
    const { what } = measured;
    const line =
      "unit" in measured
        ? [what, `${measured.ours.toFixed(2)} ${measured.unit}`, "", "", targetOf(measured)]
        : [
            what,
            `${measured.ours.toFixed(0)}/s`,
            `${measured.baseline.toFixed(0)}/s`,
            measured.ratio.toFixed(2),
            `>= ${measured.target.toFixed(2)}`,
          ];
    const ok =
      "most" in measured
        ? measured.ours < measured.most
        : "least" in measured
          ? measured.ours >= measured.least
          : !("target" in measured) || measured.ratio >= measured.target;
    if (!ok) this.noteMissed(what);
    this.lines.push([...line, !line[4] ? "" : ok ? "ok" : "MISSED"]);
    console.error(line.join("  "), ok ? "" : "  MISSED"); // printed as soon as it is measured
  }

  /** Notes a target that was missed, of a measurement with a table of its own. */
  noteMissed(what: string): void {
    this.missed.push(what);
  }

  /** Whether no measurement has missed its target. */
  get allMet(): boolean {
    return this.missed.length === 0;
  }

  print(): string {
    const rows = [HEAD, ...this.lines];
    const end = this.allMet ? "All targets are met." : `Missed: ${this.missed.join("; ")}.`;
    const widths = HEAD.map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
    const lines = rows.map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join("  ")
        .trimEnd(),
    );
    return [...lines, end].join("\n");
  }
}
