import { commandOf } from "../audit/note";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { Keys } from "./keys";

/** The first keys of a new organization, in full. */
export interface NewOrganization {
  readonly organizationId: string;
  readonly secretKey: string;
  readonly publicKey: string;
}

/** Creates the organization of `scope` with a SECRET and a PUBLIC key. */
export async function createOrganization(
  scope: Scope,
  {
    name,
    isDefault = false,
    secretKey,
    publicKey,
  }: { name: string; isDefault?: boolean; secretKey?: string; publicKey?: string },
): Promise<NewOrganization> {
  const { organizationId } = scope;
  const operation = commandOf("org:create", "Organization", [{ name: "name" }]);
  operation.about(organizationId);
  return scope.audited(operation).transaction(async (scope) => {
    await scope.shared("organizations").insert({ id: organizationId, name, isDefault });
    await scope.write(ADD_HOME);
    const keys = scope.of(Keys);
    const secret = await keys.create(
      { type: "SECRET" },
      { ...(secretKey !== undefined && { value: secretKey }) },
    );
    const publicKeyRecord = await keys.create(
      { type: "PUBLIC" },
      { ...(publicKey !== undefined && { value: publicKey }) },
    );
    return { organizationId, secretKey: secret.value, publicKey: publicKeyRecord.value };
  });
}

const ADD_HOME = statement(({ db, home }) => db.raw(`${home.addition}`));
