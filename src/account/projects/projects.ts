import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Input, PublicRow } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";

export type Project = PublicRow<"projects">;
export type ProjectInput = Input<"projects">;

/** A project of another service. */
export interface ImportedProject extends ProjectInput, KeptTimes {
  readonly id: string;
}

/** Groups of assistants with webhook destinations of their own. */
export class Projects {
  constructor(private readonly scope: Scope) {}

  /** Newest first. */
  async list(): Promise<Project[]> {
    return await this.scope.table("projects").orderBy(NEWEST_FIRST);
  }

  /** The same by creation, as a connection. */
  connection(query: ConnectionQuery): Promise<Connection<Project>> {
    return connectionByAge({ rows: this.scope.table("projects"), map: (row) => row }, query);
  }

  /** @throws PROJECT_NOT_FOUND */
  async byId(id: string): Promise<Project> {
    const loader = this.scope.loader<Project | undefined>("projects", async (ids) => {
      const rows = await this.scope.table("projects").whereIn("id", ids);
      return ids.map((id) => rows.find((row) => row.id === id));
    });
    return (await loader.load(id)) ?? missing("Project", id);
  }

  async create(input: ProjectInput): Promise<Project> {
    const [row] = await this.scope.insert("projects", { ...input, id: newId() });
    return row!;
  }

  /** Creates a project with this id, or updates the one with this id to match. */
  async import({ id, createdAt, updatedAt, ...input }: ImportedProject): Promise<Project> {
    const [stored] = await this.scope.table("projects").where({ id }).forUpdate();
    const values = { ...input, ...(updatedAt && { updatedAt }) };
    if (stored) return hasValues(stored, values) ? stored : this.update(id, values);
    const times = timesOfNew({ createdAt, updatedAt });
    const [row] = await this.scope.insert("projects", { ...input, id, ...times });
    return row!;
  }

  /** @throws PROJECT_NOT_FOUND */
  async update(id: string, input: Partial<ProjectInput & { updatedAt: Date }>): Promise<Project> {
    const changes = { updatedAt: currentDate(), ...encoded({ ...input }) };
    const [row] = await this.scope.table("projects").where({ id }).update(changes).returning("*");
    return row ?? missing("Project", id);
  }

  /**
   * Deletes a project with its webhook destinations. Its assistants, workflows and deployments stay, without a project.
   * @throws PROJECT_NOT_FOUND
   */
  async remove(id: string): Promise<{ id: string }> {
    await this.scope.transaction(async (scope) => {
      for (const table of ["assistants", "workflows", "deployments"] as const)
        await scope.table(table).where({ projectId: id }).update({ projectId: null });
      if ((await scope.table("projects").where({ id }).delete()) === 0) missing("Project", id);
    });
    return { id };
  }
}
