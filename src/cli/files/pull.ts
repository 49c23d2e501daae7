import { join } from "node:path";
import { Document } from "yaml";
import { besideIn } from "./beside";
import { duplicates, readYaml } from "./folder";
import { slugOf } from "./keys";
import { KIND_NAMES, KINDS, type Fields, type Kind } from "./kinds";
import { makeOutputFolder } from "../folder/output-folder";
import { Merge } from "./merge";
import { beside, Places, portable } from "./places";
import { FileProblems } from "./problems";
import { pulledFields } from "./pulled-fields";
import { readRemote, type Reading, type RemoteRecord } from "./remote";
import { SecretNames } from "./secret-names";
import { contentOf, writeChanged } from "./write-files";
import type { YamlFile } from "./yaml-file";
import { textOfNew, withoutAliases, YamlForm } from "./yaml-form";

const UPDATES: Readonly<Record<Kind, string>> = {
  assistant: "Assistant",
  webhook: "WebhookDestination",
  workflow: "Workflow",
  deployment: "Deployment",
};

const KEPT =
  "The {} on the server differs from the result of this text. The file keeps its variables; if the server is right, change the text or their values.";

/** Tools of YAML 1.1 read plain texts such as `yes` as something else, so new files have them in quotes. */
const FORM = { compat: "yaml-1.1" } as const;

/** Writes all records of the server into a folder. */
export class Pull {
  private written = 0;

  constructor(
    private readonly reading: Reading,
    private readonly folder: string,
    private readonly environment: Readonly<Record<string, string | undefined>>,
    private readonly print: (line: string) => void,
  ) {}

  /** @returns the number of written files. @throws FileProblems if a file of the folder cannot be read */
  async run(): Promise<number> {
    makeOutputFolder(this.folder);
    const present = readYaml(this.folder);
    const twice = duplicates(present.filter(({ fields }) => typeof fields.key === "string"));
    if (twice.length > 0) throw new FileProblems(twice);
    const { usable, unusable } = await this.keyedRecords();
    const records = inOrder(usable);
    const secrets = new SecretNames(present);
    const places = new Places(this.folder, present);
    const pairs = records.map((record) => ({ record, file: fileOf(present, record) }));
    const others = present.filter((one) => !pairs.some(({ file }) => file === one));
    const drafts = pairs.map(({ record, file }) => ({
      record,
      file,
      path:
        file?.path ??
        places.free(join(this.folder, KINDS[record.kind].folder, portable(`${record.key}.yaml`))),
      fields: pulledFields(record, file?.fields ?? {}, secrets),
    }));
    places.giveTo(drafts, others, this.print);
    for (const { file, path, fields } of drafts) await this.write(path, fields, file);
    for (const line of linesOfDeleted(drafts, unusable, present)) this.print(line);
    for (const { path } of others.filter(
      ({ kind, key }) => ![...records, ...unusable].some((one) => one.kind === kind && one.key === key),
    ))
      this.print(
        `Not on the server: ${path}. Delete the file if the record was deleted on purpose; otherwise apply creates it.`,
      );
    return this.written;
  }

  /**
   * All records that a file can describe, and deployments whose assistant is deleted. Those without a key get one, so that
   * the same file names them from now on.
   */
  private async keyedRecords(): Promise<{ usable: RemoteRecord[]; unusable: RemoteRecord[] }> {
    for (;;) {
      const { records } = await readRemote(this.reading);
      const unusable = records.filter(
        ({ kind, fields }) => kind === "deployment" && fields.assistant === null && fields.workflow === null,
      );
      const usable = records.filter((record) => !unusable.includes(record));
      const unnamed = usable.filter(({ key }) => key === null);
      if (unnamed.length === 0) return { usable, unusable };
      const first = unnamed.filter(({ kind }) => kind !== "deployment"); // whose keys are those of what they deploy
      const taken = new Set(records.map(({ kind, key }) => `${kind} ${key}`));
      for (const record of first.length > 0 ? first : unnamed) await this.giveKey(record, taken);
    }
  }

  private async giveKey({ kind, id, label }: RemoteRecord, taken: Set<string>): Promise<void> {
    const keys = [...taken]
      .filter((one) => one.startsWith(`${kind} `))
      .map((one) => one.slice(kind.length + 1));
    const key = slugOf(label, kind, new Set(keys));
    taken.add(`${kind} ${key}`);
    const type = UPDATES[kind];
    const query = `mutation ($id: ID!, $input: Update${type}Input!) { update${type}(id: $id, input: $input) { id } }`;
    await this.reading.connection.graphql(query, { id, input: { key } });
    this.print(`Gave the ${KINDS[kind].noun} "${label}" the key ${key}.`);
  }

  private async write(path: string, fields: Fields, file: YamlFile | undefined): Promise<void> {
    this.put(path, file ? this.mergedInto(file, fields) : this.merged(new Document(undefined, FORM), fields));
    for (const value of besideIn(fields)) {
      if (value.place === undefined) continue;
      const place = beside(path, value.place);
      const content = contentOf(place);
      if (!value.fits(content)) this.put(place, await value.content(content));
    }
  }

  private mergedInto(file: YamlFile, fields: Fields): string {
    const attempt = (document: Document) => {
      const kept: string[] = [];
      const form = new YamlForm(file.text, document);
      const merge = new Merge(document, this.environment, (node, field) => {
        kept.push(file.problemOf(node, `Warning: ${KEPT.replace("{}", field)}`));
      });
      document.contents = merge.node(document.contents, fields);
      return { text: form.text(), kept };
    };
    const { text, kept } = withAliases(() => attempt(file.document)) ?? attempt(withoutAliases(file.text));
    for (const line of kept) this.print(line);
    return file.withText(text);
  }

  private merged(document: Document, fields: Fields): string {
    document.contents = new Merge(document, this.environment, () => undefined).node(undefined, fields);
    return textOfNew(document);
  }

  private put(path: string, content: string | Uint8Array): void {
    if (!writeChanged(this.folder, path, content)) return;
    this.written++;
    this.print(`Wrote ${path}.`);
  }
}

/** By kind and key, so that names that are made for values are the same on every server. */
const inOrder = (records: readonly RemoteRecord[]): RemoteRecord[] =>
  KIND_NAMES.flatMap((kind) =>
    records.filter((record) => record.kind === kind).sort((one, other) => (one.key! < other.key! ? -1 : 1)),
  );

/** Lines about nodes and deployments whose assistant is deleted: no file can name it. */
function linesOfDeleted(
  written: readonly { readonly path: string; readonly record: RemoteRecord }[],
  unusable: readonly RemoteRecord[],
  present: readonly YamlFile[],
): string[] {
  const nodes = written.flatMap(({ path, record }) =>
    (record.nodesWithoutAssistant ?? []).map(
      (name) =>
        `Written without an assistant: the node "${name}" in ${path}, because its assistant is deleted.`,
    ),
  );
  const deployments = unusable.map((record) => {
    const { path } = fileOf(present, record) ?? {};
    const what = path === undefined ? "" : `, whose file ${path} stays as it is`;
    return `Not written: the deployment ${record.key ?? record.id}${what}. Its assistant is deleted: delete the deployment, or give it another assistant.`;
  });
  return [...nodes, ...deployments];
}

const fileOf = (files: readonly YamlFile[], { kind, key }: RemoteRecord): YamlFile | undefined =>
  files.find((file) => file.kind === kind && file.key === key);

/** @returns undefined if an alias stands for a value that is gone */
function withAliases<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!/^Unresolved alias/.test((error as Error).message)) throw error;
    return undefined;
  }
}
