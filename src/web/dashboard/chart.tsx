import {
  BarController,
  BarElement,
  CategoryScale,
  Chart as Drawn,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ChartData,
  type ChartOptions,
} from "chart.js";
import { useEffect, useRef, useState } from "preact/hooks";

Drawn.register(BarController, BarElement, LineController, LineElement, PointElement, Filler);
Drawn.register(CategoryScale, LinearScale, Tooltip);

export type ColorName = "text" | "voice" | "sms" | "good" | "bad" | "wait" | "main";
export interface Series {
  readonly label: string;
  readonly colour: ColorName;
  readonly values: readonly (number | null)[];
}
export interface Drawing {
  readonly type: "bar" | "line";
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** Whether bars are horizontal. */
  readonly lying?: boolean;
  /** Formats values for the axis and the tooltip. */
  readonly write?: (value: number) => string;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function dataOf({ type, labels, series }: Drawing): ChartData {
  const datasets = series.map(({ label, colour: name, values }) => ({
    label,
    data: [...values],
    backgroundColor: type === "bar" ? colour(name) : `${colour(name)}1f`,
    borderColor: colour(name),
    borderWidth: type === "bar" ? 0 : 2,
    borderRadius: 3,
    maxBarThickness: 28,
    // A single value cannot form a line.
    pointRadius: values.filter((value) => value !== null).length > 1 ? 0 : 3,
    pointHoverRadius: 4,
    pointBackgroundColor: colour(name),
    cubicInterpolationMode: "monotone" as const,
    spanGaps: true,
    fill: type === "line",
  }));
  return { labels: [...labels], datasets };
}

function optionsOf({ type, lying = false, write = String, series }: Drawing): ChartOptions {
  const stacked = type === "bar" && series.length > 1;
  const font = { family: getComputedStyle(document.body).fontFamily, size: 11 };
  const names = {
    stacked,
    grid: { display: false },
    border: { color: colour("line") },
    ticks: { color: colour("quiet"), font, maxRotation: 0, autoSkipPadding: 16, autoSkip: !lying },
  };
  const values = {
    stacked,
    beginAtZero: true,
    border: { display: false },
    grid: { color: colour("line") },
    ticks: {
      color: colour("quiet"),
      font,
      maxTicksLimit: 5,
      ...(write === String && { precision: 0 }),
      callback: (value: number | string) => write(Number(value)),
    },
  };
  return {
    indexAxis: lying ? "y" : "x",
    maintainAspectRatio: false,
    animation: still.matches ? false : { duration: 250 },
    interaction: { mode: "index", axis: lying ? "y" : "x", intersect: false },
    scales: lying ? { x: values, y: names } : { x: names, y: values },
    plugins: { tooltip: tooltipOf(write, lying) },
  };
}

const tooltipOf = (write: (value: number) => string, lying: boolean) => ({
  backgroundColor: colour("tip"),
  titleColor: colour("tip-text"),
  bodyColor: colour("tip-text"),
  padding: 10,
  cornerRadius: 8,
  boxPadding: 4,
  usePointStyle: true,
  callbacks: {
    label: ({
      dataset,
      parsed,
    }: {
      dataset: { label?: string };
      parsed: { x: number | null; y: number | null };
    }) => ` ${dataset.label ?? ""}: ${write((lying ? parsed.x : parsed.y) ?? 0)}`,
  },
});

/** Whether the browser prefers dark colors; updates when that changes. */
function useDark(): boolean {
  const [is, set] = useState(dark.matches);
  useEffect(() => {
    const changed = () => set(dark.matches);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  return is;
}

/** A chart on a canvas; the table beside it gives the same data to screen readers. */
export function Chart({
  drawing,
  label,
  height = 220,
}: {
  drawing: Drawing;
  label: string;
  height?: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isDark = useDark();
  useEffect(() => {
    const drawn = new Drawn(canvas.current!, {
      type: drawing.type,
      data: dataOf(drawing),
      options: optionsOf(drawing),
    });
    return () => drawn.destroy();
  }, [drawing, isDark]);
  return (
    <>
      {drawing.series.length > 1 && <Legend series={drawing.series} />}
      <div class="plot" style={{ height: `${height}px` }}>
        <canvas ref={canvas} role="img" aria-label={`${label}. The table below has the numbers.`} />
      </div>
    </>
  );
}

const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul class="legend" aria-hidden="true">
    {series.map(({ label, colour }) => (
      <li key={label}>
        <span class={`dot ${colour}`} />
        {label}
      </li>
    ))}
  </ul>
);
