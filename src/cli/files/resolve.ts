import { hash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { originOf } from "../../assistants/configurations/origins";
import { detectType } from "../../assistants/files/describe";
import {
  CHANNELS,
  Expanded,
  isFields,
  isRecord,
  KINDS,
  Secret,
  sentValue,
  withServers,
  type Fields,
  type KnowledgeFile,
} from "./kinds";
import { LEFT_CONFLICT, placeOfConflict } from "./merge-conflict";
import { expanded, mistakenVariables, variablesIn } from "./variables";
import { isAbsolutePath, isInside } from "./write-files";
import type { Path, YamlFile } from "./yaml-file";

/** The folder and the variables to which texts in files may refer. */
export interface Surroundings {
  /** Folder that contains every file that a record may use. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether URLs and numbers need the variables that they name: not to check files in another environment. */
  readonly needsVariables: boolean;
}

/** A file beside a YAML file that an assistant answers from. */
export interface LocalFile extends KnowledgeFile {
  /** MIME type of the content. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** Place of a merge conflict in its text, as `file:line:column`. The text may be meant to have it. */
  readonly conflict?: string;
}

/** The text of a file without its last line break, which editors add. */
export const withoutLastBreak = (text: string): string => text.replace(/\n$/, "");

/** Reads what the fields of a YAML file refer to: texts, attached files and environment variables. */
export class Resolver {
  readonly problems: string[] = [];
  /** Lines about values that are allowed, but probably not meant. */
  readonly warnings: string[] = [];

  constructor(
    private readonly file: YamlFile,
    /** Path of the YAML file. */
    private readonly path: string,
    private readonly surroundings: Surroundings,
  ) {}

  async fields(): Promise<Fields> {
    const { kind, fields } = this.file;
    if (kind === "assistant") return this.assistant(fields);
    if (kind === "workflow") return this.workflow(fields);
    if (kind === "webhook") return this.webhook(fields);
    return this.deployment(fields);
  }

  private async assistant(fields: Fields): Promise<Fields> {
    this.warnings.push(...this.file.warningsOfNumbers("variables"));
    const origins = fields.allowedOrigins as readonly string[] | undefined;
    const channels = CHANNELS.filter((channel) => isFields(fields[channel]));
    return {
      ...fields,
      ...Object.fromEntries(
        channels.map((channel) => [channel, this.channel(fields[channel] as Fields, channel)]),
      ),
      ...(origins && { allowedOrigins: origins.map((one) => originOf(one) ?? one) }), // the server stores this form
      ...(Array.isArray(fields.files) && { files: await this.files(fields.files as unknown[]) }),
    };
  }

  private channel(fields: Fields, channel: string): Fields {
    const { prompt, resources, functions } = fields;
    return {
      ...fields,
      ...(prompt !== undefined && { prompt: this.text(prompt, [channel, "prompt"]) }),
      ...(resources !== undefined && { resources: this.text(resources, [channel, "resources"]) }),
      ...(Array.isArray(functions) && {
        functions: functions.map((item: Fields, index) => this.function(item, [channel, "functions", index])),
      }),
    };
  }

  private function(item: Fields, path: Path): Fields {
    return withServers(item, ({ path: inside, fields, url, secret }) => {
      const [address, variable] = [fields[url], fields[secret]];
      return {
        ...fields,
        ...(typeof address === "string" && { [url]: this.expanded(address, [...path, ...inside, url]) }),
        ...(typeof variable === "string" && {
          [secret]: this.secret(variable, [...path, ...inside, secret]),
        }),
      };
    });
  }

  private workflow(fields: Fields): Fields {
    if (!isFields(fields.nodes)) {
      if (fields.edges !== undefined)
        this.refuse(["edges"], "Edges need the nodes, which the file leaves out.");
      return fields;
    }
    const nodes = Object.entries(fields.nodes as Readonly<Record<string, Fields>>).map(([label, node]) => {
      const { instructions } = node;
      const text = instructions != null && {
        instructions: this.text(instructions, ["nodes", label, "instructions"]),
      };
      return [label, { ...node, ...text }] as const;
    });
    const edges = (fields.edges ?? []) as readonly Fields[];
    for (const [index, edge] of edges.entries())
      for (const end of ["from", "to"])
        if (!Object.hasOwn(fields.nodes, String(edge[end])))
          this.refuse(["edges", index, end], `There is no node "${String(edge[end])}" in this file.`);
    return { ...fields, nodes: Object.fromEntries(nodes) };
  }

  private webhook(fields: Fields): Fields {
    const { url, secret, events } = fields;
    const address = this.expanded(String(url), ["url"]);
    if (address !== undefined && !/^https?:\/\/./.test(String(sentValue(address))))
      this.refuse(["url"], "The url must begin with http:// or https://.");
    return {
      ...fields,
      url: address,
      ...(Array.isArray(events) && { events: events.length > 0 ? events : null }),
      ...(typeof secret === "string" && { secret: this.secret(secret, ["secret"]) }),
    };
  }

  private deployment(fields: Fields): Fields {
    const { assistantVersion, workflow, number } = fields;
    if (assistantVersion != null && workflow != null)
      this.refuse(["assistantVersion"], "A deployment of a workflow has no version of an assistant.");
    return { ...fields, ...(typeof number === "string" && { number: this.expanded(number, ["number"]) }) };
  }

  /** @returns undefined if a variable is not set */
  private expanded(text: string, path: Path): string | Expanded | undefined {
    const { environment, needsVariables } = this.surroundings;
    const value = expanded(text, environment);
    for (const sentence of mistakenVariables(text))
      this.warnings.push(this.file.problemAt(path, `Warning: ${sentence}`));
    const variables = Object.fromEntries(variablesIn(text).map((name) => [name, environment[name] ?? ""]));
    if (typeof value === "string")
      return Object.keys(variables).length > 0 ? new Expanded(value, text, variables) : value;
    if (needsVariables) this.refuse(path, `The environment variable ${value.join(", ")} is not set.`);
    return undefined;
  }

  private secret(text: string, path: Path): Secret {
    const [, variable] = /^\$\{(.*)\}$/.exec(text)!; // checked by the schema
    const value = this.surroundings.environment[variable!];
    // Secrets of functions are sent in a header.
    if (value && /\p{Cc}/u.test(value))
      this.refuse(
        path,
        `The environment variable ${variable} has a line break or another control character.`,
      );
    return new Secret(value || undefined, variable);
  }

  private text(value: unknown, path: Path): unknown {
    if (!isFields(value)) return value;
    const bytes = this.read(String(value.file), [...path, "file"]);
    if (bytes === undefined) return "";
    const conflict = placeOfConflict(this.beside(String(value.file)), bytes);
    if (conflict !== undefined) this.problems.push(`${conflict}: ${LEFT_CONFLICT}`);
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return withoutLastBreak(text.replaceAll("\r\n", "\n")); // git on Windows writes CRLF
    } catch {
      this.refuse([...path, "file"], `${String(value.file)} is not a text in UTF-8.`);
      return "";
    }
  }

  private async files(entries: readonly unknown[]): Promise<LocalFile[]> {
    const files: LocalFile[] = [];
    for (const [index, entry] of entries.entries()) {
      const { file, name = basename(String(file)) } = isFields(entry) ? entry : { file: entry };
      const path = ["files", index];
      const bytes = this.read(String(file), isFields(entry) ? [...path, "file"] : path);
      if (bytes === undefined) continue;
      const conflict = placeOfConflict(this.beside(String(file)), bytes);
      files.push({
        name: String(name).normalize("NFC"),
        digest: hash("sha256", bytes, "hex"),
        type: await typeOf(bytes),
        size: bytes.length,
        ...(conflict !== undefined && { conflict }),
        content: async () => new Uint8Array(await readFile(this.beside(String(file)))),
      });
    }
    return files;
  }

  private beside(path: string): string {
    return join(dirname(this.path), path);
  }

  /** Reads a file of the folder. A record must not contain other files of the machine, not even by a link. */
  private read(path: string, at: Path): Buffer | undefined {
    if (isAbsolutePath(path)) {
      this.refuse(at, `${path} is an absolute path. Write the path from the folder of this file.`);
      return undefined;
    }
    try {
      const folder = realpathSync(this.surroundings.folder);
      const real = realpathSync(this.beside(path));
      if (!isInside(folder, real)) this.refuse(at, `${path} is outside the folder.`);
      // A pull would write the text in place of the record.
      else if (isOfRecord(relative(folder, real))) this.refuse(at, `${path} is the file of a record.`);
      else return readFileSync(real);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      this.refuse(at, code === "ENOENT" ? `${path} does not exist.` : `${path} cannot be read (${code}).`);
    }
    return undefined;
  }

  private refuse(path: Path, message: string): void {
    this.problems.push(this.file.problemAt(path, message));
  }
}

/** @param path from the folder */
function isOfRecord(path: string): boolean {
  const [place, name = "", ...deeper] = path.split(sep);
  return deeper.length === 0 && isRecord(name) && Object.values(KINDS).some(({ folder }) => folder === place);
}

async function typeOf(bytes: Buffer): Promise<string> {
  const { content, detectedType } = await detectType(Readable.from([bytes]));
  await content.toArray(); // the type may depend on the end
  return detectedType();
}
