import { zone } from "./zone";

export type Cell = string | number | null;

/** Data of a chart or list as a table, for screen readers and CSV download. */
export interface Sheet {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Spreadsheets treat a text with such a beginning as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function writeCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Adds the time zone to the header of a column of days, for files. */
const withZone = (column: string) => (column === "Day" ? `Day (${zone()})` : column);

/** Formats a table as CSV (RFC 4180). */
const csv = ({ columns, rows }: Sheet) =>
  [columns.map(withZone), ...rows].map((row) => row.map(writeCell).join(",")).join("\r\n") + "\r\n";

/** Downloads a table as a CSV file. */
export function download(sheet: Sheet): void {
  // Without a byte order mark, spreadsheets do not recognize UTF-8.
  const address = URL.createObjectURL(new Blob(["\ufeff", csv(sheet)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${sheet.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
