import type { Scope } from "../../platform/database/scope";

export interface Organization {
  readonly id: string;
  readonly name: string;
  /** Whether a `uniqueId` must be signed by the organization. */
  readonly requireSignedIdentity: boolean;
}

export interface OrganizationInput {
  readonly requireSignedIdentity?: boolean;
}

/** Reads and changes the organization of the scope. */
export class Organizations {
  constructor(private readonly scope: Scope) {}

  async current(): Promise<Organization> {
    const { organizationId: id } = this.scope;
    const [row] = await this.scope.shared("organizations").where({ id });
    return row!; // the caller's credential would be gone with the organization
  }

  /** Changes the given fields. */
  async update({ requireSignedIdentity }: OrganizationInput): Promise<Organization> {
    const { organizationId: id } = this.scope;
    if (requireSignedIdentity !== undefined)
      await this.scope.shared("organizations").where({ id }).update({ requireSignedIdentity });
    return this.current();
  }
}
