import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from "type-graphql";
import { Organizations } from "../../src/account/organization/organizations";
import { Tokens } from "../../src/account/organization/tokens";
import type { Context } from "../core/context";
import { NotNull, Rule } from "../core/rules";

@ObjectType({
  description: "The organization that the caller's credential belongs to.",
  simpleResolvers: true,
})
export class Organization {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field({ description: "Name." })
  name!: string;
  @Field({
    description:
      "Whether a uniqueId is taken only with its signature: without, whoever knows a person's id could speak as them.",
  })
  requireSignedIdentity!: boolean;
}

@InputType({ description: "Changes to the organization. What is left out stays." })
export class UpdateOrganizationInput {
  @NotNull
  @Field({
    nullable: true,
    description:
      "Whether a uniqueId needs a uniqueIdSignature: its HMAC with SHA-256 under the identity secret (identitySecret).",
  })
  requireSignedIdentity?: boolean;
}

@ObjectType({
  description: "A short-lived bearer token, for the header Authorization: Bearer <token>.",
  simpleResolvers: true,
})
export class IssuedToken {
  @Field({ description: "The token." })
  token!: string;
  @Field({
    description: "Time of expiry; the token ends earlier if its key is deactivated, deleted or expires.",
  })
  expiresAt!: Date;
}

@InputType({ description: "Settings of a new token." })
export class IssueTokenInput {
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({
    nullable: true,
    description:
      "User whom the token speaks for, 1 to 255 characters; without it the token speaks for the organization.",
  })
  userId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 20 })
  @Field({
    nullable: true,
    description: "Lifetime: seconds (3600) or a span (60s, 15m, 1h, 7d). Default 1h, at most 30d.",
  })
  expiresIn?: string;
}

@Resolver(() => Organization)
export class OrganizationResolver {
  @Query(() => Organization, { description: "The caller's organization." })
  organization(@Ctx() { scope }: Context) {
    return scope.of(Organizations).current();
  }

  @Mutation(() => Organization, { description: "Changes the caller's organization." })
  updateOrganization(
    @Arg("input", { description: "Fields to change." }) input: UpdateOrganizationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Organizations).update(input);
  }

  @Mutation(() => IssuedToken, {
    description: "Issues a bearer token. One issued by a token ends no later than that.",
  })
  issueToken(
    @Arg("input", { description: "Settings of the token." }) input: IssueTokenInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Tokens).issue(input, caller!);
  }
  @FieldResolver(() => String, {
    nullable: true,
    description:
      "Link to its analytics page. It works for 15 minutes, for whoever has it; each reading gives a new one. null for who may not have it: it takes a SECRET key, or a token without userId.",
  })
  analyticUrl(@Ctx() { scope, caller }: Context) {
    return scope.of(Tokens).analyticsLink(caller!);
  }
}
