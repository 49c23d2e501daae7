import JSZip from "jszip";

/** A DOCX file with these paragraphs; `[style, text]` has a style such as Heading1. */
export async function docx(
  paragraphs: readonly (string | readonly [style: string, text: string])[],
): Promise<Buffer> {
  const body = paragraphs.map((paragraph) => {
    const [style, text] = typeof paragraph === "string" ? ["", paragraph] : paragraph;
    return `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  });
  const zip = new JSZip();
  zip.file("[Content_Types].xml", CONTENT_TYPES);
  zip.file("_rels/.rels", RELATIONSHIPS);
  zip.file(
    "word/document.xml",
    `<w:document xmlns:w="${WORD}"><w:body>${body.join("")}</w:body></w:document>`,
  );
  return zip.generateAsync({ type: "nodebuffer", compression: "DEFLATE" });
}

const OPEN = "http://schemas.openxmlformats.org";
const WORD = `${OPEN}/wordprocessingml/2006/main`;
const MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
const CONTENT_TYPES = `<Types xmlns="${OPEN}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="${MAIN}"/></Types>`;
const RELATIONSHIPS = `<Relationships xmlns="${OPEN}/package/2006/relationships"><Relationship Id="rId1" Type="${OPEN}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** A line on a page of a PDF and its font size, in points. */
export type PdfLine = readonly [text: string, size?: number];

/** A PDF with these lines on each page, from top to bottom. */
export function pdf(...pages: readonly (readonly PdfLine[])[]): Buffer {
  const fonts = 3 + pages.length * 2;
  const kids = pages.map((_, index) => `${3 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    ...pages.flatMap((lines, index) => {
      const content = drawn(lines);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 2} 0 R /Resources << /Font << /F ${fonts} 0 R >> >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return String(offset).padStart(10, "0");
  });
  const table = offsets.map((offset) => `${offset} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(text, "latin1");
}

function drawn(lines: readonly PdfLine[]): string {
  let y = 740;
  return lines
    .map(([text, size = 12]) => {
      y -= size * (text === "" ? 2 : 1.3);
      return `BT /F ${size} Tf 72 ${y} Td (${text.replace(/[()\\]/g, "\\$&")}) Tj ET`;
    })
    .join("\n");
}
