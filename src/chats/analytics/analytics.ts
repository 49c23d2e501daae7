import { Assistants } from "../../assistants/assistants/assistants";
import type { Scope } from "../../platform/database/scope";
import { Projects } from "../../account/projects/projects";
import type { AnalyticsInput } from "./period";
import { Report } from "./report";

/** Statistics of an organization's conversations. */
export class Analytics {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed), PROJECT_NOT_FOUND, BAD_USER_INPUT */
  async report(input: AnalyticsInput): Promise<Report> {
    const { assistantId, projectId } = input;
    const report = new Report(this.scope, input);
    if (assistantId != null) await this.scope.of(Assistants).byIdIncludingDeleted(assistantId);
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
    return report;
  }
}
