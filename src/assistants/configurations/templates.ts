import { pageOf, type Page, type PageQuery } from "../../platform/database/lists/page";
import { OLDEST_FIRST } from "../../platform/database/lists/order";
import { columnsExcept, type Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import type { ConfigurationKind, Kinds } from "./configurations";

/** A read-only assistant shared by all organizations. */
export type Template = Omit<Rows["templates"], ConfigurationKind> & {
  readonly template: true;
  readonly projectId: null;
  readonly toolServers: null;
  readonly key: null;
  readonly missingVariables: "KEEP";
};

/** Fields of an assistant that no template sets. */
const NONE = {
  template: true,
  projectId: null,
  toolServers: null,
  key: null,
  missingVariables: "KEEP",
} as const;

const COLUMNS = columnsExcept("templates", "voice", "sms", "chat", "theme");

/** The templates, shared by all organizations. Users duplicate them. */
export class Templates {
  constructor(private readonly scope: Scope) {}

  async list(query: PageQuery): Promise<Page<Template>> {
    const rows = await this.scope
      .shared("templates")
      .select(...COLUMNS)
      .orderBy(OLDEST_FIRST);
    return pageOf(
      rows.map((row) => ({ ...row, ...NONE })),
      query,
    );
  }

  async find(id: string): Promise<Template | undefined> {
    const [row] = await this.scope
      .shared("templates")
      .select(...COLUMNS)
      .where({ id });
    return row && { ...row, ...NONE };
  }

  /** Like `find`, but calls in the same tick share one statement. */
  async shared(id: string): Promise<Template | undefined> {
    const row = await this.whole(id);
    return row && { ...withoutConfigurations(row), ...NONE };
  }

  /** The four configurations of a template. @throws ASSISTANT_NOT_FOUND */
  async configurations(id: string): Promise<Kinds> {
    const { voice, sms, chat, theme } = (await this.whole(id)) ?? missing("Assistant", id);
    return { voice, sms, chat, theme };
  }

  private whole(id: string): Promise<Rows["templates"] | undefined> {
    const loader = this.scope.loader<Rows["templates"] | undefined>("templates", async (ids) => {
      const rows = await this.scope.shared("templates").whereIn("id", ids);
      return ids.map((id) => rows.find((row) => row.id === id));
    });
    return loader.load(id);
  }

  /** @throws TEMPLATE_READ_ONLY if the id is that of a template, else ASSISTANT_NOT_FOUND */
  async rejectWrite(id: string): Promise<never> {
    if (await this.find(id))
      throw new DomainError(
        "TEMPLATE_READ_ONLY",
        "This assistant is a template. Duplicate it, then change the copy.",
      );
    return missing("Assistant", id);
  }
}

const withoutConfigurations = ({ voice: _v, sms: _s, chat: _c, theme: _t, ...row }: Rows["templates"]) => row;
