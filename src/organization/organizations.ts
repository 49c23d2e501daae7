import type { Scope } from "../database/scope";

export interface Organization {
  readonly id: string;
  readonly name: string;
}

/** The organization itself. */
export class Organizations {
  constructor(private readonly scope: Scope) {}

  async current(): Promise<Organization> {
    const { organizationId: id } = this.scope;
    const [row] = (await this.scope.shared("organizations").where({ id })) as Organization[];
    return row!; // whoever asks has a credential, which goes with its organization
  }
}
