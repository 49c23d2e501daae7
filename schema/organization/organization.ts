import { Arg, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { Organizations } from "../../src/account/organization/organizations";
import { AnalyticsTokens } from "../../src/account/organization/analytics-tokens";
import { Tokens } from "../../src/account/organization/tokens";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";

@ObjectType({
  implements: Node,
  description: "Organization of the caller's credential.",
  simpleResolvers: true,
})
export class Organization {
  @Field(() => ID, { description: "Opaque id." })
  id!: string;
  @Field({ description: "Name." })
  name!: string;
  @Field({
    description:
      "Whether every uniqueId must be signed. If false, anybody who knows an end user's id can impersonate them.",
  })
  requireSignedIdentity!: boolean;
}

@InputType({ description: "Changes to the organization. Omitted fields stay unchanged." })
export class UpdateOrganizationInput {
  @NotNull
  @Field({
    nullable: true,
    description:
      "Whether every uniqueId needs a uniqueIdSignature: its HMAC-SHA-256 with the identity secret (see identitySecret).",
  })
  requireSignedIdentity?: boolean;
}

@ObjectType({
  description: "Short-lived bearer token, for the header Authorization: Bearer <token>.",
  simpleResolvers: true,
})
export class IssuedToken {
  @Field({ description: "Value of the token." })
  token!: string;
  @Field({
    description: "Expiry time. The token expires earlier if its key expires, is deactivated or is deleted.",
  })
  expiresAt!: Date;
}

@InputType({ description: "Settings of a new token." })
export class IssueTokenInput {
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({
    nullable: true,
    description:
      "User that the token is issued for, 1 to 255 characters. Default: none; the token then acts for the organization.",
  })
  userId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 20 })
  @Field({
    nullable: true,
    description:
      'Lifetime as a string: seconds ("3600") or a duration ("60s", "15m", "1h", "7d"), at most "30d". Default: "1h".',
  })
  expiresIn?: string;
}

@ObjectType({
  description: "Bearer token of the analytics page. It can read the data of this page and nothing else.",
  simpleResolvers: true,
})
export class AnalyticsToken {
  @Field({ description: "Value of the token." })
  token!: string;
  @Field({
    description:
      "Expiry time, at most 15 minutes from now. The token expires earlier if its key expires, is deactivated or is deleted.",
  })
  expiresAt!: Date;
  @Field(() => Int, { description: "Time until it expires, in seconds." })
  expiresIn!: number;
  @Field({
    description:
      "End of the session: issueAnalyticsToken renews the token until then, 12 hours after the first token.",
  })
  renewableUntil!: Date;
}

@Resolver(() => Organization)
export class OrganizationResolver {
  @Query(() => Organization, { description: "Returns the caller's organization." })
  organization(@Ctx() { scope }: Context) {
    return scope.of(Organizations).current();
  }

  @Mutation(() => Organization, { description: "Updates the caller's organization." })
  updateOrganization(
    @Arg("input", { description: "Changes to apply." }) input: UpdateOrganizationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Organizations).update(input);
  }

  @Mutation(() => IssuedToken, {
    description:
      "Issues a bearer token. If the caller uses a token, the new one expires no later than the caller's.",
  })
  issueToken(
    @Arg("input", { description: "Settings of the token." }) input: IssueTokenInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Tokens).issue(input, caller!);
  }

  @Mutation(() => AnalyticsToken, {
    description:
      "Issues a token of the analytics page, valid for 15 minutes. The page uses it to renew its token: a caller with a token of the page gets another for the same session, which ends 12 hours after its first token.",
  })
  issueAnalyticsToken(@Ctx() { scope, caller }: Context) {
    return scope.of(AnalyticsTokens).issue(caller!);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      "Link to the analytics page. It works for 15 minutes without any other credential, and an open page stays signed in for up to 12 hours; each read returns a new link. null unless the caller uses a SECRET key or a token without userId.",
  })
  analyticUrl(@Ctx() { scope, caller }: Context) {
    return scope.of(AnalyticsTokens).link(caller!);
  }
}
