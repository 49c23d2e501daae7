import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { each, sourceFiles } from "./source";

/** A text in the source that people may read: an error, a problem of a value, output of a command, or a log line. */
export interface Message {
  readonly place: string;
  readonly kind: "error" | "problem" | "setting" | "output" | "log" | "text";
  /** Code or class of an error, level of a log line, or the name that the text stands under. */
  readonly code: string;
  /** The text, with `{…}` for each value. */
  readonly text: string;
  readonly node: ts.Node;
}

/** Position of the message among the arguments of each class of errors. A class without a row fails the test. */
const ERROR_CLASSES: Readonly<Record<string, number>> = {
  Error: 0,
  TypeError: 0,
  GraphQLError: 0,
  DomainError: 1,
  McpError: 1,
  RequestError: 0,
  FileProblems: 0,
  DamagedFolderError: 0,
  LineError: 0,
  UnreadableError: 1,
  ModelFailure: 0,
  ToolServerFailure: 0,
  RequestNotSent: 0,
  UnreachableHost: 0,
  CallRefused: 0,
  SmsRefused: 0,
  SmsDelayed: 0,
  TextRefused: 0,
  UnreadableDocument: 0,
  UnsupportedPattern: 0,
  DeniedError: 0,
  ImportStoppedError: 0,
  RefusedError: 1,
  TargetError: 1,
};
/** Classes whose constructors compose the message, or whose messages nobody sees. */
const WITHOUT_MESSAGE: readonly string[] = [
  "BoundExceeded",
  "AlreadyAnswered",
  "CallAlreadyOpen",
  "AbortedError",
  "BrokenOffError",
  "TooLongError",
];
const isErrorClass = (name: string) => /Error$/.test(name) || name in ERROR_CLASSES;

const LOGGER = /\b(logger|log)\??\.(fatal|error|warn|info|debug)$/;
const OUTPUT = /^(console\.(error|log|warn)|process\.std(err|out)\.write|log|print|fail)$/;
const ZOD = /\b(refine|superRefine|regex|length|startsWith|withValue)$/;
/** Texts under these names are documentation, not messages. */
const DOCUMENTATION = /^(description|descriptions|deprecationReason|summary|use|usage|pattern|type|title)$/;
/** Calls with texts that nobody reads as a message: descriptions, headers, names of connections, word lists. */
const SILENT_CALL =
  /(^|\.)(enumOf|describe|setHeader|writeHead|appendHeader|set|split|select|Client|connect|createTenantTable|createOrganization|copyFrom|copyTo|post|fetch|stream|download|Histogram|Counter|JobPool|registerEnumType)$/;
const SILENT_NAME =
  /^([A-Z_]*SETTINGS|TEXT|VOICE|SMS|CHAT|THEME|DESCRIPTIONS?|ROOTS|ERRORS|VARIABLES|METADATA|TARGET_ERRORS|[A-Z_]*POLICY|STYLE|BEHAVIOURS|LINKS|GUARD|JOB_COLUMNS|QUERIES|COVERAGE|STOP)$/;
const SQL_CALL = /(^|\.)(raw|query|whereRaw|orderByRaw|selectRaw|groupByRaw|havingRaw|fromRaw|joinRaw)$/;
const SQL =
  /^\s*\(?(select|insert|update|delete|with|create|alter|drop|grant|revoke|notify|listen|set|case|not exists|exists|count|coalesce|on conflict|where|and|from|left join|join|lateral|comment|begin|commit|for update|order by|union|array_agg|jsonb?_|to_|pg_|row_|greatest|least)\b/i;
const GRAPHQL = /^\s*((query|mutation|subscription|fragment)\b|\{|#|")/;
const WORDS = /[a-z]{2,}[,:;]? +[a-z]{2,}/i;

/** Files whose texts are not messages of the service. */
const OTHER_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^src\/web\//, "pages of the browser, tested in browsers"],
  [/^src\/platform\/database\/migrations\//, "SQL"],
  [/^src\/platform\/language\//, "word lists"],
  [/^src\/http\/error-reference\.ts$/, "documentation"],
  [/^rest-compat\/(routes\/|openapi|examples)/, "documentation"],
];

/** Every message of the service and its commands, by file and line. */
export function messages(): Message[] {
  const files = [...sourceFiles("src", "schema", "rest-compat"), ...programs()];
  return files
    .filter(({ fileName }) => !OTHER_TEXTS.some(([pattern]) => pattern.test(fileName)))
    .flatMap(messagesOf);
}

/** Errors that are missing from the table: of classes without a row, and thrown values that are not errors. */
export function unseenErrors(): string[] {
  const found: string[] = [];
  for (const file of [...sourceFiles("src", "schema", "rest-compat"), ...programs()])
    if (!file.fileName.startsWith("src/web/"))
      each(file, (node) => {
        const made = ts.isNewExpression(node) ? node.expression.getText() : baseOf(node);
        if (made !== undefined && isErrorClass(made) && !isKnown(node, made))
          found.push(`${placeOf(node)}: ${node.getText().slice(0, 60)}`);
        if (ts.isThrowStatement(node) && isPlainValue(node.expression))
          found.push(`${placeOf(node)}: ${node.getText().slice(0, 60)}`);
      });
  return found;
}

/** The class that a class extends. */
const baseOf = (node: ts.Node) =>
  ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression.getText() : undefined;

const isKnown = (node: ts.Node, made: string) => {
  const name = ts.isClassDeclaration(node) ? node.name!.text : made;
  return name in ERROR_CLASSES || WITHOUT_MESSAGE.includes(name);
};

const isPlainValue = (node: ts.Node) => isText(node) || ts.isObjectLiteralExpression(node);

/** Programs that run without a build. */
function programs(): ts.SourceFile[] {
  const folder = join(__dirname, "../../src/cli");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".mjs"))
    .map((name) =>
      ts.createSourceFile(
        `src/cli/${name}`,
        readFileSync(join(folder, name), "utf8"),
        ts.ScriptTarget.Latest,
        true,
        ts.ScriptKind.JS,
      ),
    );
}

function messagesOf(file: ts.SourceFile): Message[] {
  const found: Message[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isDecorator(node)) return;
    const message = isText(node) || isConcatenation(node) ? messageOf(node) : undefined;
    if (message) found.push(message);
    else node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function messageOf(node: ts.Node): Message | undefined {
  const text = textOf(node);
  const context = contextOf(node);
  if (!context || (context.kind === "text" && !isSentence(text))) return undefined;
  if (context.kind !== "error" && !WORDS.test(text)) return undefined;
  return { place: placeOf(node), ...context, text, node };
}

const isSentence = (text: string) => WORDS.test(text) && !SQL.test(text) && !GRAPHQL.test(text);

type Context = Pick<Message, "kind" | "code">;

/** The use of a text: the nearest call, property, variable or function around it. */
function contextOf(node: ts.Node): Context | undefined {
  let child = node;
  for (let parent = node.parent; parent; child = parent, parent = parent.parent) {
    if (ts.isNewExpression(parent) || ts.isCallExpression(parent)) return inCall(parent, child);
    if (ts.isTaggedTemplateExpression(parent) || ts.isElementAccessExpression(parent)) return undefined;
    if (ts.isBinaryExpression(parent) && isComparison(parent)) return undefined;
    if (ts.isPropertyAssignment(parent)) {
      const property = inProperty(parent, child);
      if (property !== "further") return property;
    }
    if (ts.isCaseClause(parent) || ts.isExportDeclaration(parent)) return undefined;
    if (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent))
      return inName(parent.name.getText());
    if (ts.isFunctionLike(parent)) return inName(nameOfFunction(parent));
    if (ts.isEnumMember(parent) || ts.isSourceFile(parent)) return undefined;
  }
  return undefined;
}

const inName = (name: string): Context | undefined =>
  DOCUMENTATION.test(name) || SILENT_NAME.test(name) ? undefined : { kind: "text", code: name };

function inCall(call: ts.NewExpression | ts.CallExpression, argument: ts.Node): Context | undefined {
  const callee = call.expression.getText().replaceAll(/\s+/g, "");
  const index = call.arguments?.indexOf(argument as ts.Expression) ?? -1;
  if (ts.isNewExpression(call) && callee in ERROR_CLASSES) {
    if (index !== ERROR_CLASSES[callee]) return undefined;
    const [first] = call.arguments ?? [];
    return { kind: "error", code: callee === "DomainError" && first ? codeOf(first) : callee };
  }
  const level = LOGGER.exec(callee)?.[2];
  if (level !== undefined) return { kind: "log", code: level };
  if (OUTPUT.test(callee)) return { kind: "output", code: callee };
  if (SQL_CALL.test(callee) || SILENT_CALL.test(callee)) return undefined;
  if (ZOD.test(callee)) return { kind: "setting", code: "invalid" };
  return { kind: "text", code: callee.slice(-40) };
}

function inProperty(property: ts.PropertyAssignment, value: ts.Node): Context | "further" | undefined {
  if (property.name === value) return undefined;
  const name = property.name.getText();
  if (DOCUMENTATION.test(name)) return undefined;
  const beside = (other: string) =>
    property.parent.properties.find((one) => one.name?.getText() === other) as
      ts.PropertyAssignment | undefined;
  if (name === "error") return { kind: "setting", code: "invalid" };
  if (name !== "message") return "further";
  const code = beside("code")?.initializer;
  return code ? { kind: "error", code: codeOf(code) } : { kind: "problem", code: "BAD_USER_INPUT" };
}

const codeOf = (node: ts.Node) => (ts.isStringLiteral(node) ? node.text : node.getText().slice(0, 40));

const isComparison = ({ operatorToken }: ts.BinaryExpression) =>
  [
    ts.SyntaxKind.EqualsEqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsEqualsToken,
    ts.SyntaxKind.InKeyword,
  ].includes(operatorToken.kind);

function nameOfFunction(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : "";
}

const isText = (node: ts.Node): node is ts.StringLiteralLike | ts.TemplateExpression =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const isConcatenation = (node: ts.Node): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind === ts.SyntaxKind.PlusToken &&
  [node.left, node.right].some((side) => isText(side) || isConcatenation(side));

function textOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (isConcatenation(node)) return textOf(node.left) + textOf(node.right);
  if (!ts.isTemplateExpression(node)) return placeholder(node);
  const spans = node.templateSpans.map(({ expression, literal }) => placeholder(expression) + literal.text);
  return node.head.text + spans.join("");
}

const placeholder = (node: ts.Node) => `{${node.getText().replaceAll(/\s+/g, " ").slice(0, 60)}}`;

function placeOf(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
