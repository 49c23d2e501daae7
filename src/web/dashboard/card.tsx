import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { NONE, number } from "./format";
import { download, type Cell, type Sheet } from "./sheet";

interface CardProps {
  readonly sheet: Sheet;
  readonly note: string;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** Text to show instead of the children if there is no data. */
  readonly empty?: string;
  readonly isEmpty?: boolean;
  /** Whether the children are a table themselves. */
  readonly plain?: boolean;
}

/** One statistic as a chart, and as a table to open or download. */
export function Card({ sheet, note, children, wide, empty, isEmpty, plain }: CardProps) {
  const id = useId();
  const none = isEmpty ?? sheet.rows.length === 0;
  return (
    <section class={wide ? "card wide" : "card"} aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{sheet.name}</h2>
          <p>{note}</p>
        </div>
        <button
          type="button"
          class="quiet"
          disabled={sheet.rows.length === 0}
          aria-label={`Download ${sheet.name} as CSV`}
          onClick={() => download(sheet)}
        >
          <span aria-hidden="true">↓</span> CSV
        </button>
      </header>
      {none ? <p class="empty">{empty ?? "Nothing in this period."}</p> : children}
      {!none && !plain && (
        <details>
          <summary>Show as a table</summary>
          <SheetTable sheet={sheet} />
        </details>
      )}
    </section>
  );
}

const shown = (cell: Cell) => (cell === null ? NONE : typeof cell === "number" ? number(cell) : cell);

function SheetTable({ sheet: { name, columns, rows } }: { sheet: Sheet }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${name}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column} scope="col" class={index > 0 ? "number" : ""}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              <th scope="row">{shown(row[0] ?? null)}</th>
              {row.slice(1).map((cell, index) => (
                <td key={index} class="number">
                  {shown(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
