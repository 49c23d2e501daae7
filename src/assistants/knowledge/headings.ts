/** A passage, divided into its heading and the rest. */
export interface HeadedText {
  /** Heading or question that the text answers, if there is one. */
  readonly heading?: string;
  readonly text: string;
}

/** In characters. Longer lines belong to a paragraph that is wrapped over several lines. */
const MAX_HEADING_LENGTH = 60;
/** Separates the headings above a passage of a file. */
const PATH_SEPARATOR = " › ";
/** Labels before a question and before its answer, in the languages of the widget. */
const QUESTION_LABELS = new Set(
  "q f p d v s question frage pregunta pergunta domanda vraag pytanie soru 問 質問 问 问题 問題 質 질문 문 س سؤال ש שאלה".split(
    " ",
  ),
);
const ANSWER_LABELS = new Set(
  "a r o c answer antwort réponse respuesta resposta risposta antwoord odpowiedź cevap 答 回答 答え 答案 답변 답 ج جواب ת תשובה".split(
    " ",
  ),
);
const LABEL = /^[*_]{0,2}([\p{L}\p{M}]{1,10})[*_]{0,2} ?[:：][*_]{0,2}/u;

/** The text of a line after a label of the set; undefined if it has none. */
function textAfterLabel(line: string, labels: ReadonlySet<string>): string | undefined {
  const [label, name] = LABEL.exec(line) ?? [];
  if (label === undefined || !labels.has(name!.toLowerCase())) return undefined;
  return line.slice(label.length).trim();
}

/** Divides a passage: a question and its answer, or a short first line and the lines below. */
export function splitHeading(passage: string): HeadedText {
  const [line = "", ...below] = passage.split("\n").map((one) => one.trim());
  const question = textAfterLabel(line, QUESTION_LABELS);
  const answer = textAfterLabel(below[0] ?? "", ANSWER_LABELS);
  const text = below.join("\n").trim();
  if (question !== undefined && answer !== undefined)
    return { heading: question, text: [answer, ...below.slice(1)].join("\n").trim() };
  const isHeading = line.includes(PATH_SEPARATOR) || isMarked(line) || isShortTitle(line, text);
  if (text === "" || !isHeading) return { text: passage };
  const heading = withoutMarks(line.split(PATH_SEPARATOR).at(-1)!);
  // Markdown's heading above a question and its answer
  const inner = textAfterLabel(below[0] ?? "", QUESTION_LABELS) === undefined ? { text } : splitHeading(text);
  return heading === "" ? inner : { heading, ...inner };
}

/** Divides a list of questions and answers without blank lines. */
export function questionsIn(paragraph: string): string[] {
  const lines = paragraph.split("\n");
  const begins = (at: number) =>
    textAfterLabel(lines[at]!.trim(), QUESTION_LABELS) !== undefined &&
    textAfterLabel(lines[at + 1]?.trim() ?? "", ANSWER_LABELS) !== undefined;
  const starts = lines.flatMap((_, at) => (at === 0 || begins(at) ? [at] : []));
  return starts.map((start, index) => lines.slice(start, starts[index + 1]).join("\n"));
}

/** Whether a line is a heading in Markdown. */
export const isMarked = (line: string): boolean =>
  /^#{1,6} /.test(line) || (/^[*_]{2}[^*_]/.test(line) && /[*_]{2}:?$/.test(line));

/** Whether a paragraph has a heading of its own in its first line. */
export function beginsWithHeading(paragraph: string): boolean {
  const [line = "", ...below] = paragraph.split("\n");
  return isMarked(line) || (below.length > 0 && isShortTitle(line.trim(), below.join("\n").trim()));
}

/** Whether a line is the title of the text below it. */
export const isShortTitle = (line: string, text: string): boolean =>
  line.length <= MAX_HEADING_LENGTH && !/[.!,;。！،]$|^[-*>|\d]/u.test(line) && !/^\p{Ll}/u.test(text);

/** A heading without the marks of Markdown and a colon at its end. */
const withoutMarks = (heading: string): string =>
  heading
    .trim()
    .replace(/^#{1,6} /, "")
    .replace(/[:：]$/, "")
    .replace(/^[*_]{2}|[*_]{2}$/g, "")
    .replace(/[:：]$/, "")
    .trim();
