import { currentDate } from "../../platform/clock";
import { CONFIGURATIONS } from "../configurations/configurations";
import { newId } from "../../platform/database/values/ids";
import { containing } from "../../platform/database/values/containing";
import { List, page, type Page, type PageQuery } from "../../platform/database/lists/page";
import { withFreeKey } from "../../platform/database/record-key";
import { ListPerId, pageOfOwner } from "../../platform/database/lists/page-per-id";
import { encoded } from "../../platform/database/values/encoded";
import type { Conditions } from "../../platform/database/lists/filtered-statement";
import type { Input } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { missing } from "../../platform/errors";
import { AttachedFiles } from "../knowledge/attached-files";
import { ToolServers } from "../tool-servers/tool-servers";
import { isLong } from "../history/kept-content";
import { VersionKeeper } from "../history/version-keeper";
import { Quotas } from "../../account/organization/quotas";
import { Projects } from "../../account/projects/projects";
import { warnOfUnusableNames } from "../configurations/variable-names";
import { Templates } from "../configurations/templates";
import { COLUMNS, CREATE, isOfDocument, UPDATES, type AssistantRow } from "./statements";
import { wholeAssistant } from "./whole-assistant";

export interface Assistant extends AssistantRow {
  /** Whether this is a shared, read-only template. */
  readonly template: boolean;
}

export type AssistantInput = Input<"assistants">;

/** Filters of the list of assistants. */
const CONDITIONS = {
  search: (rows, pattern) => rows.whereRaw("(name ilike ? or description ilike ?)", [pattern, pattern]),
  projectId: (rows, value) => rows.where({ projectId: value }),
} satisfies Conditions<string>;

/** `search`: part of a name or description, case-insensitive. */
export type AssistantQuery = PageQuery & { readonly [Name in keyof typeof CONDITIONS]?: string | null };

const ASSISTANT_BY_ID = statement(({ table, $ }) =>
  table("assistants")
    .select(...COLUMNS)
    .where({ id: $(1) })
    .whereNull("deletedAt"),
);

const ASSISTANTS_BY_ID = statement(({ table, $, db }) =>
  table("assistants")
    .select(...COLUMNS)
    .where("id", db.raw("any(?::text[])", [$(1)])),
);

const LIST = new List({
  table: "assistants",
  where: (rows) => rows.whereNull("deletedAt"),
  columns: COLUMNS,
  unbounded: { description: null, variables: null },
  conditions: CONDITIONS,
});

const OF_PROJECTS = new ListPerId(LIST, "projectId");

const COPY_SUFFIX = " (copy)";
const MAX_NAME_LENGTH = 255;

/** The assistants of an organization. Also reads and duplicates templates. */
export class Assistants {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND */
  async byId(id: string): Promise<Assistant> {
    return (await this.findOwn(id)) ?? (await this.scope.of(Templates).find(id)) ?? missing("Assistant", id);
  }

  /** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
  async checkOwn(id: string): Promise<void> {
    if (!(await this.findOwn(id))) await this.scope.of(Templates).rejectWrite(id);
  }

  /** A template, or an assistant even if it has been deleted. @throws ASSISTANT_NOT_FOUND */
  async byIdOrTemplate(id: string): Promise<Assistant> {
    return (await this.scope.of(Templates).shared(id)) ?? this.byIdIncludingDeleted(id);
  }

  /**
   * An assistant, even if it has been deleted, because its chats stay readable. Calls in the same tick share one
   * statement.
   * @throws ASSISTANT_NOT_FOUND
   */
  byIdIncludingDeleted(id: string): Promise<Assistant> {
    const loader = this.scope.loader<Assistant | undefined>("assistants.evenDeleted", async (ids) => {
      const rows = await this.scope.read(ASSISTANTS_BY_ID, [ids]);
      const found = new Map(rows.map((row) => [row.id, toAssistant(row)]));
      return ids.map((id) => found.get(id));
    });
    return loader.load(id).then((assistant) => assistant ?? missing("Assistant", id));
  }

  async list(query: AssistantQuery): Promise<Page<Assistant>> {
    const { search, projectId } = query;
    const filter = { search: search ? containing(search) : null, projectId };
    const { data, meta } = await page(this.scope, LIST, query, filter);
    return { data: data.map(toAssistant), meta };
  }

  /** Assistants of a project. Calls in the same tick with equal queries share their statements. */
  async ofProject(projectId: string, query: PageQuery): Promise<Page<Assistant>> {
    const { data, meta } = await pageOfOwner(this.scope, OF_PROJECTS, projectId, query);
    return { data: data.map(toAssistant), meta };
  }

  /** Creates an assistant with its four configurations and their defaults. @throws PROJECT_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT */
  async create(input: AssistantInput): Promise<Assistant> {
    await this.checkProject(input);
    warnOfUnusableNames(this.scope, input.variables);
    const { name, description = null, variables = null, projectId = null, key = null } = encoded(input);
    const { missingVariables = "KEEP" } = input;
    const id = newId();
    const creator = this.scope.of(VersionKeeper).author();
    return this.scope.of(Quotas).withRoomFor("assistants", async (scope) => {
      scope.operation?.inserted("assistants", { id });
      const values = [id, name, description, variables, projectId, key, missingVariables, creator];
      const [row] = await withFreeKey(scope, "assistants", { key: input.key }, () =>
        scope.change(CREATE, values),
      );
      return toAssistant(row!);
    });
  }

  /**
   * Changes the given fields, and stores a version.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, PROJECT_NOT_FOUND, CONFLICT
   */
  async update(id: string, input: Partial<AssistantInput>): Promise<Assistant> {
    await this.checkProject(input);
    const changes = { ...encoded({ ...input }), updatedAt: currentDate() };
    const keeper = this.scope.of(VersionKeeper);
    const isKept = Object.keys(changes).some(isOfDocument);
    const updates = UPDATES.of(Object.keys(changes), Object.values(input).some(isLong));
    const values = [id, ...Object.values(changes), ...(isKept ? [keeper.author()] : [])];
    const [row] = await withFreeKey(this.scope, "assistants", { id, key: input.key }, () =>
      isKept ? keeper.change(id, updates, values) : this.scope.change(updates, values),
    );
    if (!row) return this.scope.of(Templates).rejectWrite(id);
    warnOfUnusableNames(this.scope, input.variables);
    return toAssistant(row);
  }

  /**
   * Marks an assistant as deleted, and discards its draft. The caller must end its live chats in the same transaction. Its
   * chats stay until retention deletes them.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY
   */
  async remove(id: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      const changed = await scope
        .table("assistants")
        .where({ id })
        .whereNull("deletedAt")
        .update({ deletedAt: currentDate() });
      if (changed === 0) await scope.of(Templates).rejectWrite(id);
      await scope.table("assistant_drafts").where({ assistantId: id }).delete();
      await scope.of(AttachedFiles).detachAll(id);
    });
  }

  /**
   * Prevents deletion until the end of the transaction, which stores a chat: a deletion ends only the chats it sees.
   * @throws ASSISTANT_NOT_FOUND
   */
  async lockForChat(id: string): Promise<void> {
    const locked = await this.live().select("id").where({ id }).forShare();
    if (locked.length === 0) missing("Assistant", id);
  }

  /**
   * Copies an assistant or template with its fields and configurations, but without its key, project and attached files.
   * @throws ASSISTANT_NOT_FOUND, QUOTA_EXCEEDED
   */
  async duplicate(id: string): Promise<Assistant> {
    return this.scope.transaction(async (scope) => {
      const own = await wholeAssistant(scope, id);
      const source = own ? toAssistant(own.row) : await scope.of(Assistants).byId(id);
      const name = [...source.name].slice(0, MAX_NAME_LENGTH - COPY_SUFFIX.length).join("") + COPY_SUFFIX;
      const configurations = own?.configurations ?? (await scope.of(Templates).configurations(id));
      const { template: _t, key: _k, projectId: _p, createdAt: _c, updatedAt: _u, ...copied } = source;
      const made = await scope.of(Assistants).write({ ...copied, id: newId(), name }, configurations);
      if (own) await scope.of(ToolServers).copyHeaders(id, own.sealedToolHeaders, made.id);
      await scope.of(VersionKeeper).record(made.id);
      return made;
    });
  }

  private async findOwn(id: string): Promise<Assistant | undefined> {
    const [row] = await this.scope.read(ASSISTANT_BY_ID, [id]);
    return row && toAssistant(row);
  }

  private async checkProject({ projectId }: Partial<AssistantInput>): Promise<void> {
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
  }

  private live() {
    return this.scope.table("assistants").whereNull("deletedAt");
  }

  /** Checks the quota and inserts the assistant with its configurations. Must run in a transaction. */
  private async write(
    input: AssistantInput & { id: string },
    configurations: Record<string, Record<string, unknown>>,
  ): Promise<Assistant> {
    await this.scope.of(Quotas).checkRoomFor("assistants");
    const { id: assistantId } = input;
    // The name of the part hides the table. It comes first, because a Citus cluster checks foreign keys after each part.
    const created = this.scope.insert("assistants", { ...input });
    let query = this.scope.unlimited().table("assistants").with("assistants", created);
    for (const [kind, table] of Object.entries(CONFIGURATIONS)) {
      const row = this.scope.insert(table, { ...configurations[kind], assistantId });
      query = query.with(`${kind}_row`, row);
    }
    const [row] = await query;
    return toAssistant(row!);
  }
}

const toAssistant = (row: AssistantRow): Assistant => ({ template: false, ...row });
