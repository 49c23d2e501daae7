import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import ts from "typescript";

const root = join(__dirname, "../..");

export interface Import {
  /** The importing file, relative to the project's folder. */
  readonly from: string;
  /** The imported file without its extension, or the name of the imported package. */
  readonly to: string;
  readonly own: boolean;
  /** Whether it is a type import. */
  readonly typeOnly: boolean;
}

/** The TypeScript files below some folders of the project. */
export function sourceFiles(...folders: readonly string[]): ts.SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => posix.join(folder, name.replaceAll("\\", "/")))
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
      .map((name) =>
        ts.createSourceFile(name, readFileSync(join(root, name), "utf8"), ts.ScriptTarget.Latest, true),
      ),
  );
}

/** Every import, re-export and `require` of a file. */
export function importsOf(file: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (!specifier || !ts.isStringLiteral(specifier)) return;
    const own = specifier.text.startsWith(".");
    const to = own ? posix.join(dirname(file.fileName), specifier.text) : packageName(specifier.text);
    found.push({ from: file.fileName, to: to.replace(/\/index$/, ""), own, typeOnly });
  };
  each(file, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, typesAlone(node.importClause));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    if (ts.isCallExpression(node) && /^(require|import)$/.test(node.expression.getText(file)))
      add(node.arguments[0], false);
  });
  return found;
}

/** Calls `visit` with a node and all its descendants. */
export function each(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => each(child, visit));
}

function typesAlone(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  return (
    !name &&
    !!namedBindings &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((one) => one.isTypeOnly)
  );
}

const packageName = (specifier: string) =>
  specifier.startsWith("node:")
    ? "node"
    : specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");
