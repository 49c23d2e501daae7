import { pageOf, type Page, type PageQuery } from "../../platform/database/page";
import { OLDEST_FIRST } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import type { ConfigurationKind } from "./configurations";

type Settings = Record<string, unknown>;

/** A read-only assistant of all organizations. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly template: true;
  readonly variables: Record<string, unknown> | null;
  readonly projectId: null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type TemplateRow = Omit<Template, "template" | "projectId"> & Readonly<Record<ConfigurationKind, Settings>>;

const COLUMNS = ["id", "name", "description", "variables", "createdAt", "updatedAt"] as const;

/** The templates: one read-only list for all organizations, used by duplicating them. */
export class Templates {
  constructor(private readonly scope: Scope) {}

  async list(query: PageQuery): Promise<Page<Template>> {
    const rows = await this.scope
      .shared("templates")
      .select(...COLUMNS)
      .orderBy(OLDEST_FIRST);
    return pageOf(
      rows.map((row) => ({ ...row, template: true, projectId: null })),
      query,
    );
  }

  async find(id: string): Promise<Template | undefined> {
    const [row] = await this.scope
      .shared("templates")
      .select(...COLUMNS)
      .where({ id });
    return row && { ...row, template: true, projectId: null };
  }

  /** All four configurations of a template, each in the columns of its table. */
  async configurations(id: string): Promise<Readonly<Record<ConfigurationKind, Settings>>> {
    const loader = this.scope.loader<TemplateRow | undefined>("templates", async (ids) => {
      const rows = await this.scope.shared("templates").whereIn("id", ids);
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
