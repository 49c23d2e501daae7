import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Document } from "yaml";
import { readYaml } from "./folder";
import { slugOf } from "./keys";
import { KINDS, type Fields, type Kind } from "./kinds";
import { Merge } from "./merge";
import { pulledFields } from "./pulled-fields";
import { readRemote, type Reading, type RemoteRecord } from "./remote";
import { digestOf, writeChanged } from "./write-files";
import type { YamlFile } from "./yaml-file";

/** Long lines stay as they are. */
const STYLE = { lineWidth: 0 } as const;

const UPDATES: Readonly<Record<Kind, string>> = {
  assistant: "Assistant",
  webhook: "WebhookDestination",
  workflow: "Workflow",
  deployment: "Deployment",
};

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
    const present = existsSync(this.folder) ? readYaml(this.folder) : [];
    const records = await this.keyedRecords();
    for (const record of records) await this.write(record, fileOf(present, record));
    for (const file of present)
      if (!records.some(({ kind, key }) => kind === file.kind && key === file.key))
        this.print(`Not on the server: ${file.path}.`);
    return this.written;
  }

  /** All records. Those without a key get one, so that the same file names them from now on. */
  private async keyedRecords(): Promise<readonly RemoteRecord[]> {
    for (;;) {
      const { records } = await readRemote(this.reading);
      // The assistant of a deployment may have been deleted.
      const usable = records.filter(
        ({ kind, fields }) => kind !== "deployment" || fields.assistant !== null || fields.workflow !== null,
      );
      const unnamed = usable.filter(({ key }) => key === null);
      if (unnamed.length === 0) return usable;
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

  private async write(record: RemoteRecord, file: YamlFile | undefined): Promise<void> {
    const path = file?.path ?? join(this.folder, KINDS[record.kind].folder, `${record.key}.yaml`);
    const { fields, files } = pulledFields(record, file?.fields ?? {});
    const before = file?.document.toString(STYLE);
    const { text, texts } = file ? this.mergedInto(file, fields) : this.merged(new Document(), fields);
    if (text !== before) this.put(path, text);
    for (const [name, content] of texts) this.put(join(dirname(path), name), `${content}\n`);
    for (const [name, { digest, content }] of files) {
      const place = join(dirname(path), name);
      if (digestOf(place) !== digest) this.put(place, await content());
    }
  }

  /** An alias of the file may stand for a value that is gone; a new document has no aliases. */
  private mergedInto({ document }: YamlFile, fields: Fields) {
    try {
      return this.merged(document, fields);
    } catch (error) {
      if (!/^Unresolved alias/.test((error as Error).message)) throw error;
      return this.merged(new Document(), fields);
    }
  }

  private merged(document: Document, fields: Fields) {
    const merge = new Merge(document, this.environment);
    document.contents = merge.node(document.contents, fields);
    return { text: document.toString(STYLE), texts: merge.texts };
  }

  private put(path: string, content: string | Uint8Array): void {
    if (!writeChanged(this.folder, path, content)) return;
    this.written++;
    this.print(`Wrote ${path}.`);
  }
}

const fileOf = (files: readonly YamlFile[], { kind, key }: RemoteRecord): YamlFile | undefined =>
  files.find((file) => file.kind === kind && file.key === key);
