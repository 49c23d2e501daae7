import {
  Args,
  ArgsType,
  Ctx,
  ID,
  InputType,
  Int,
  ObjectType,
  registerEnumType,
  Resolver,
} from "type-graphql";
import { AuditEvents } from "../../src/account/audit/audit-events";
import { AuditLog } from "../../src/account/audit/audit-log";
import type { AuditActor } from "../../src/account/audit/note";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Field, Query } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";

const AuditKind = { CHANGE: "CHANGE", DISCLOSURE: "DISCLOSURE" } as const;
registerEnumType(AuditKind, {
  name: "AuditKind",
  description: "Effect of an audited operation.",
  valuesConfig: {
    CHANGE: { description: "Change of a record, or of many." },
    DISCLOSURE: {
      description: "Disclosure of a secret, such as the value of a key, or of a new token or link.",
    },
  },
});

const AuditActorKind = {
  SECRET: "SECRET",
  PUBLIC: "PUBLIC",
  TOKEN: "TOKEN",
  VISITOR: "VISITOR",
  ANALYTICS: "ANALYTICS",
  ANONYMOUS: "ANONYMOUS",
  OPERATOR: "OPERATOR",
  SYSTEM: "SYSTEM",
  PROVIDER: "PROVIDER",
} as const satisfies Record<AuditActor, AuditActor>;
registerEnumType(AuditActorKind, {
  name: "AuditActor",
  description: "Kind of actor of an audited operation.",
  valuesConfig: {
    SECRET: { description: "A SECRET key." },
    PUBLIC: { description: "A PUBLIC key." },
    TOKEN: { description: "A bearer token, issued for a user or for the organization." },
    VISITOR: { description: "A visitor of a web page." },
    ANALYTICS: { description: "The link to the analytics page." },
    ANONYMOUS: {
      description: "A caller without credential on the settings paths of the default organization.",
    },
    OPERATOR: { description: "An operator, by a command on the server." },
    SYSTEM: { description: "A job of the service." },
    PROVIDER: { description: "A callback of the voice engine or the telephony provider." },
  },
});

const AuditInterface = {
  GRAPHQL: "GRAPHQL",
  REST: "REST",
  CALLBACK: "CALLBACK",
  COMMAND: "COMMAND",
  JOB: "JOB",
} as const;
registerEnumType(AuditInterface, {
  name: "AuditInterface",
  description: "Interface that an audited operation used.",
  valuesConfig: {
    GRAPHQL: { description: "GraphQL, including the widget." },
    REST: { description: "REST." },
    CALLBACK: { description: "A callback of a provider." },
    COMMAND: { description: "A command on the server." },
    JOB: { description: "A job of the service." },
  },
});

@ObjectType({
  description: "A field that an audited operation received, changed or disclosed.",
  simpleResolvers: true,
})
export class AuditField {
  @Field({
    description:
      "Name of the field, or kind of the rows that a job changed. Fields of an object follow its name and a dot.",
  })
  name!: string;
  @Field(() => String, {
    nullable: true,
    description:
      "Keyed digest of a person's words or identifier; null for other fields. The audit log never holds values.",
  })
  digest?: string;
  @Field(() => Int, {
    nullable: true,
    description: "Number of changed or deleted rows, for jobs and commands; null for other fields.",
  })
  count?: number;
}

@ObjectType({
  description:
    "Audited operation: a change of records or a disclosure of a secret. Entries are never changed or deleted.",
  simpleResolvers: true,
})
export class AuditEvent {
  @Field(() => ID, { description: "Opaque id." })
  id!: string;
  @Field(() => Int, { description: "Position in the organization's chain, from 1, without gaps." })
  position!: number;
  @Field(() => AuditKind, { description: "Change of records or disclosure of a secret." })
  kind!: keyof typeof AuditKind;
  @Field(() => AuditActorKind, { description: "Kind of actor." })
  actor!: AuditActor;
  @Field(() => ID, {
    nullable: true,
    description: "Id of the key that was used or that the token was issued with.",
  })
  keyId?: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Keyed digest of the actor's identity: the token's user, the visitor or the telephone number; null if there is none. The filter `person` finds it.",
  })
  person?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "IP address of the client; null for commands and jobs.",
  })
  address?: string | null;
  @Field(() => AuditInterface, { description: "Interface that the operation used." })
  interface!: keyof typeof AuditInterface;
  @Field(() => String, {
    nullable: true,
    description: "Id of the request, as in the header X-Request-Id; null if there is none.",
  })
  requestId?: string | null;
  @Field({
    description: "Name of the GraphQL operation (also for REST requests), callback, command or job.",
  })
  operation!: string;
  @Field({ description: "Type of the record." })
  recordType!: string;
  @Field(() => String, {
    nullable: true,
    description:
      "Id of the record, or a keyed digest if that is a person's identifier; null for operations on many records.",
  })
  recordId!: string | null;
  @Field(() => [AuditField], {
    description:
      "Fields that were sent, or disclosed by a DISCLOSURE; for a job, the kinds of rows with their number.",
  })
  fields!: readonly AuditField[];
  @Field({ description: "Time of the operation." })
  createdAt!: Date;
  @Field({ description: "SHA-256 of this entry and `previousHash`, 64 hexadecimal digits." })
  hash!: string;
  @Field({ description: "Hash of the entry at the position before; zeros for the first one." })
  previousHash!: string;
}

@ObjectType({ description: "End of an organization's audit log.", simpleResolvers: true })
export class AuditHead {
  @Field(() => Int, { description: "Position of the last entry; 0 if there is none." })
  position!: number;
  @Field({
    description:
      "Hash of the last entry, which covers all entries before it. Keep it elsewhere to prove later that none was changed.",
  })
  hash!: string;
}

@InputType({ description: "Conditions for audited operations; all must hold." })
export class AuditEventFilter {
  @NotNull
  @Field(() => AuditKind, { nullable: true, description: "Only changes, or only disclosures." })
  kind?: "CHANGE" | "DISCLOSURE";
  @NotNull
  @Field(() => AuditActorKind, { nullable: true, description: "Kind of actor." })
  actor?: AuditActor;
  @NotNull
  @Field(() => ID, {
    nullable: true,
    description: "Id of the key that was used or that the token was issued with.",
  })
  keyId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 4096 })
  @Field({
    nullable: true,
    description:
      "Person who acted or was the subject: a token's user, uniqueId, userId, anonymousId or telephone number, exactly as it was sent; 1 to 4,096 characters.",
  })
  person?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 64 })
  @Field({ nullable: true, description: "IP address of the client; 1 to 64 characters." })
  address?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "Name of the operation; 1 to 255 characters." })
  operation?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "Type of the record; 1 to 255 characters." })
  recordType?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the record." })
  recordId?: string;
  @NotNull
  @Field({ nullable: true, description: "Start of the period (inclusive)." })
  from?: Date;
  @NotNull
  @Field({ nullable: true, description: "End of the period (exclusive)." })
  to?: Date;
}

@ArgsType()
class AuditEventsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => AuditEventFilter, { nullable: true, description: "Filter. Default: all operations." })
  filter?: AuditEventFilter;
}

const AuditEventConnection = ConnectionOf(() => AuditEvent, "AuditEvent");

@Resolver()
export class AuditResolver {
  @Query(() => AuditEventConnection, {
    description:
      "Lists changes and disclosures of secrets, newest first. An operation is listed by the time its response is sent. If it takes long to find entries by the filter, the page covers only a part of the list: it may be empty although `hasNextPage` is true, and `extensions.warnings` has the cursor to continue with.",
  })
  auditEvents(@Args() { filter, ...query }: AuditEventsArgs, @Ctx() { scope }: Context) {
    return scope.of(AuditEvents).list(query, filter);
  }

  @Query(() => AuditHead, { description: "Returns the end of the organization's audit log." })
  async auditHead(@Ctx() { scope }: Context) {
    await scope.of(AuditLog).sealForRead();
    return scope.of(AuditLog).head();
  }
}
