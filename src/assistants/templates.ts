import { pageOf, type Page, type PageQuery } from "../database/page";
import { OLDEST_FIRST } from "../database/order";
import type { Scope } from "../database/scope";
import { DomainError, missing } from "../errors";
import type { ConfigurationKind } from "../configurations/configurations";
import type { Assistant } from "./assistants";

type Settings = Record<string, unknown>;
type TemplateRow = Omit<Assistant, "template"> & Readonly<Record<ConfigurationKind, Settings>>;

const COLUMNS = ["id", "name", "description", "variables", "createdAt", "updatedAt"];

/** The templates: one read-only list for all organizations, used by duplicating them. */
export class Templates {
  constructor(private readonly scope: Scope) {}

  async list(query: PageQuery): Promise<Page<Assistant>> {
    const rows = (await this.scope
      .shared("templates")
      .select(COLUMNS)
      .orderBy(OLDEST_FIRST)) as TemplateRow[];
    return pageOf(
      rows.map((row) => ({ ...row, template: true, projectId: null })),
      query,
    );
  }

  async find(id: string): Promise<Assistant | undefined> {
    const [row] = (await this.scope.shared("templates").select(COLUMNS).where({ id })) as TemplateRow[];
    return row && { ...row, template: true, projectId: null };
  }

  /** All four configurations of a template, each in the columns of its table. */
  async configurations(id: string): Promise<Readonly<Record<ConfigurationKind, Settings>>> {
    const loader = this.scope.loader<TemplateRow | undefined>("templates", async (ids) => {
      const rows = (await this.scope.shared("templates").whereIn("id", ids)) as TemplateRow[];
      return ids.map((id) => rows.find((row) => row.id === id));
    });
    const { voice, sms, chat, theme } = (await loader.load(id)) ?? missing("Assistant");
    return { voice, sms, chat, theme };
  }

  /** @throws TEMPLATE_READ_ONLY when there is a template with this id, else ASSISTANT_NOT_FOUND */
  async refuse(id: string): Promise<never> {
    if (await this.find(id))
      throw new DomainError(
        "TEMPLATE_READ_ONLY",
        "This assistant is a template. Duplicate it, then change the copy.",
      );
    return missing("Assistant");
  }
}
