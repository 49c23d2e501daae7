export type Cell = string | number | null;

/** What a chart or a list shows, as a table: for screen readers, and to be kept as CSV. */
export interface Sheet {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Spreadsheets take a text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function written(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** By RFC 4180. */
export const csv = ({ columns, rows }: Sheet) =>
  [columns, ...rows].map((row) => row.map(written).join(",")).join("\r\n") + "\r\n";

/** Has the browser keep it as a file. */
export function download(sheet: Sheet): void {
  // Without the mark, spreadsheets read UTF-8 as something else.
  const address = URL.createObjectURL(new Blob(["\ufeff", csv(sheet)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${sheet.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
