/** A table in Markdown, aligned as Prettier does. */
export function markdownTable(head: readonly string[], body: readonly (readonly string[])[]): string {
  const rows = [head, ...body];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const [first, ...others] = rows.map((row) => row.map((text, column) => text.padEnd(widths[column]!)));
  const line = widths.map((width) => "-".repeat(width));
  return [first!, line, ...others].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
