import { createReadStream, existsSync } from "node:fs";
import { isObject } from "../import/source";
import { readExactly } from "../../platform/json/json-source";
import type { Line } from "./format";

/** A line of a file that is none of NDJSON. */
export class LineError extends Error {}

/** A record with its place in the file. */
export interface NumberedLine {
  readonly number: number;
  readonly line: Line;
}

/** The records of a file, which is never read as a whole. @throws LineError for a line that is no JSON object, or cut off */
export async function* linesOf(path: string): AsyncGenerator<NumberedLine> {
  if (!existsSync(path)) return;
  let number = 0;
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const text = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
      yield { number: ++number, line: parsed(path, number, text) };
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0)
    throw new LineError(`${path}:${number + 1}: The line is cut off: it has no line break.`);
}

function parsed(path: string, number: number, text: string): Line {
  let value: unknown;
  try {
    value = readExactly(text);
  } catch (error) {
    throw new LineError(`${path}:${number}: The line is not JSON: ${(error as Error).message}.`);
  }
  if (isObject(value)) return value;
  throw new LineError(`${path}:${number}: The line must be a JSON object.`);
}
