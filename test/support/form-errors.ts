import { BATCH, type LibraryError } from "./library-errors";
import type { RawRequest } from "./refusals";

const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nx\r\n`;
const END = "--x--\r\n";
const form = (body: string, type = "multipart/form-data; boundary=x"): RawRequest => ({
  body,
  headers: { "Content-Type": type, "Apollo-Require-Preflight": "true" },
});
const UPLOAD = "mutation ($file: Upload!) { uploadFile(file: $file) { id } }";
const OPERATIONS = part("operations", JSON.stringify({ query: UPLOAD, variables: { file: null } }));
const MAP = part("map", '{"0": ["variables.file"]}');
const mapped = (map: string) => form(`${OPERATIONS}${part("map", map)}${END}`);

const ORDER = "the parts of the form must be in this order: operations, map, then the file";
const LISTS = 'the form needs lists of paths in its field map, such as {"0": ["variables.file"]}';
const ENDS_EARLY = "the form ends before its closing boundary";
const NO_FILE = "the form lacks the file that its field map names";

/** Errors of graphql-upload and its parser of forms. */
export const FORM_ERRORS: readonly LibraryError[] = [
  [
    "a form without a boundary",
    form(END, "multipart/form-data"),
    400,
    "BAD_USER_INPUT",
    /^the form has no boundary: send the header Content-Type: multipart/,
  ],
  ["an empty form", form(""), 400, "BAD_USER_INPUT", ENDS_EARLY],
  ["a form that ends in a file", form(`${OPERATIONS}${MAP}${file("0")}`), 200, "BAD_USER_INPUT", ENDS_EARLY],
  [
    "a form without parts",
    form(END),
    400,
    "BAD_USER_INPUT",
    `must be a form with the field operations; ${ORDER}`,
  ],
  [
    "a form without a map",
    form(`${OPERATIONS}${END}`),
    400,
    "BAD_USER_INPUT",
    `must be a form with the field map; ${ORDER}`,
  ],
  ["a form without operations", form(`${MAP}${END}`), 400, "BAD_USER_INPUT", ORDER],
  ["a form that begins with the file", form(`${file("0")}${END}`), 400, "BAD_USER_INPUT", ORDER],
  [
    "a form with the file before the map",
    form(`${OPERATIONS}${file("0")}${MAP}${END}`),
    400,
    "BAD_USER_INPUT",
    ORDER,
  ],
  [
    "operations that are no JSON",
    form(`${part("operations", "{")}${END}`),
    400,
    "BAD_USER_INPUT",
    "the form needs JSON in its field operations",
  ],
  [
    "operations that are a number",
    form(`${part("operations", "5")}${END}`),
    400,
    "BAD_USER_INPUT",
    "the form needs a JSON object in its field operations",
  ],
  [
    "operations that are a list",
    form(`${part("operations", "[]")}${part("map", "{}")}${END}`),
    400,
    "BAD_REQUEST",
    BATCH,
  ],
  ["a map that is no JSON", mapped("{"), 400, "BAD_USER_INPUT", "the form needs JSON in its field map"],
  ...["[]", '{"0":"variables.file"}', '{"0":[5]}'].map((map): LibraryError => [
    `the map ${map}`,
    mapped(map),
    400,
    "BAD_USER_INPUT",
    LISTS,
  ]),
  [
    "a map to a path that is not there",
    mapped('{"0":["variables.file.a.b"]}'),
    400,
    "BAD_USER_INPUT",
    "the form maps a file to variables.file.a.b, which its operations do not contain: set it to null there",
  ],
  ...["file", "variables.photo"].map((path): LibraryError => [
    `a map to ${path} instead of the variable`,
    form(`${OPERATIONS}${part("map", JSON.stringify({ "0": [path] }))}${file("0")}${END}`),
    400,
    "BAD_USER_INPUT",
    'The variable file needs a file: in a form, the field map names the variable, such as {"0": ["variables.file"]}.',
  ]),
  [
    "a map of two files",
    mapped('{"0":["variables.file"],"1":["variables.b"]}'),
    413,
    "PAYLOAD_TOO_LARGE",
    /only one file\. Send a request for each/,
  ],
  ["a map without its file", form(`${OPERATIONS}${MAP}${END}`), 200, "BAD_USER_INPUT", NO_FILE],
  [
    "a text in the place of the file",
    form(`${OPERATIONS}${MAP}${part("0", "x")}${END}`),
    200,
    "BAD_USER_INPUT",
    NO_FILE,
  ],
  [
    "a part with a broken header",
    form(`--x\r\nnonsense\r\n\r\nx\r\n${END}`),
    400,
    "BAD_USER_INPUT",
    /^the form has a part without a readable/,
  ],
  [
    "a file as text in a variable",
    { body: { query: UPLOAD, variables: { file: "x" } } },
    400,
    "BAD_USER_INPUT",
    /must be a file: send a form \(multipart\/form-data\)/,
  ],
  [
    "a file as text in the document",
    { body: { query: 'mutation { uploadFile(file: "x") { id } }' } },
    400,
    "GRAPHQL_VALIDATION_FAILED",
    /^A file must be the value of a variable/,
  ],
];
