import {
  Args,
  ArgsType,
  Ctx,
  Field,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
} from "type-graphql";
import { AuditEvents } from "../src/audit/audit-events";
import { AuditLog } from "../src/audit/audit-log";
import type { AuditActor } from "../src/audit/note";
import { ConnectionArgs, ConnectionOf } from "./connection";
import type { Context } from "./context";
import { NotNull, Rule } from "./rules";

const AuditKind = { CHANGE: "CHANGE", DISCLOSURE: "DISCLOSURE" } as const;
registerEnumType(AuditKind, {
  name: "AuditKind",
  description: "What an audited operation did.",
  valuesConfig: {
    CHANGE: { description: "It changed something." },
    DISCLOSURE: { description: "It told a secret, such as the value of a key, or issued a token or a link." },
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
  description: "Kind of actor behind an audited operation.",
  valuesConfig: {
    SECRET: { description: "A SECRET key." },
    PUBLIC: { description: "A PUBLIC key." },
    TOKEN: { description: "A bearer token, issued for a user or for the organization." },
    VISITOR: { description: "A visitor of a web page." },
    ANALYTICS: { description: "The link to the analytics page." },
    ANONYMOUS: {
      description: "A caller without credential on the settings paths of the default organization.",
    },
    OPERATOR: { description: "The command line of the server." },
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
  description: "Interface that an audited operation came in by.",
  valuesConfig: {
    GRAPHQL: { description: "GraphQL, the widget included." },
    REST: { description: "REST." },
    CALLBACK: { description: "A callback of a provider." },
    COMMAND: { description: "A command on the server." },
    JOB: { description: "A job of the service." },
  },
});

@ObjectType({ description: "One field that an audited operation was given or told.", simpleResolvers: true })
export class AuditField {
  @Field({ description: "Name of the field; fields of an object stand behind its name and a dot." })
  name!: string;
  @Field(() => String, {
    nullable: true,
    description:
      "Keyed digest of a person's words or identifier; null for all else. Values never stand in the audit log.",
  })
  digest?: string;
}

@ObjectType({
  description:
    "One audited operation: a change, or the disclosure of a secret. It is never changed or deleted.",
  simpleResolvers: true,
})
export class AuditEvent {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field(() => Int, { description: "Place in the organization's chain, from 1, without a gap." })
  position!: number;
  @Field(() => AuditKind, { description: "Whether something was changed or a secret told." })
  kind!: string;
  @Field(() => AuditActorKind, { description: "Kind of the actor." })
  actor!: string;
  @Field(() => ID, { nullable: true, description: "The key that was used, or the key behind the token." })
  keyId!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Keyed digest of the token's user, the visitor or the telephone number behind the actor; null if there is none. The filter `person` finds it.",
  })
  person!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "IP address of the client; null for commands and jobs.",
  })
  address!: string | null;
  @Field(() => AuditInterface, { description: "Interface that the operation came in by." })
  interface!: string;
  @Field(() => String, { nullable: true, description: "The request's id, as in the header X-Request-Id." })
  requestId!: string | null;
  @Field({
    description: "Name of the GraphQL operation, which REST paths stand for, or of the command or job.",
  })
  operation!: string;
  @Field({ description: "Type of the record." })
  recordType!: string;
  @Field(() => String, {
    nullable: true,
    description: "Id of the record, a keyed digest where that is a person's identifier; null if it has none.",
  })
  recordId!: string | null;
  @Field(() => [AuditField], { description: "Fields that were given, or told by a DISCLOSURE." })
  fields!: AuditField[];
  @Field({ description: "When it happened." })
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
      "Its hash, which stands for all entries: keep it elsewhere to prove later that none was changed.",
  })
  hash!: string;
}

@InputType({ description: "Which audited operations are wanted. All conditions must hold." })
export class AuditEventFilter {
  @NotNull
  @Field(() => AuditKind, { nullable: true, description: "Changes only, or disclosures only." })
  kind?: "CHANGE" | "DISCLOSURE";
  @NotNull
  @Field(() => AuditActorKind, { nullable: true, description: "By this kind of actor." })
  actor?: AuditActor;
  @NotNull
  @Field(() => ID, { nullable: true, description: "By this key, or a token behind it." })
  keyId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 4096 })
  @Field({
    nullable: true,
    description:
      "By or about this person: a token's user, uniqueId, userId, anonymousId or telephone number, exactly as it was given.",
  })
  person?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 64 })
  @Field({ nullable: true, description: "From this IP address." })
  address?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "With this name." })
  operation?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "About records of this type." })
  recordType?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "About this record." })
  recordId?: string;
  @NotNull
  @Field({ nullable: true, description: "From this moment on." })
  from?: Date;
  @NotNull
  @Field({ nullable: true, description: "Before this moment." })
  to?: Date;
}

@ArgsType()
class AuditEventsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => AuditEventFilter, { nullable: true, description: "Which ones are wanted; all without it." })
  filter?: AuditEventFilter;
}

const AuditEventConnection = ConnectionOf(() => AuditEvent, "AuditEvent");

@Resolver()
export class AuditResolver {
  @Query(() => AuditEventConnection, {
    description:
      "Lists who changed what and who was told a secret, the newest first. An operation stands here as soon as it has been answered.",
  })
  auditEvents(@Args() { filter, ...query }: AuditEventsArgs, @Ctx() { scope }: Context) {
    return scope.of(AuditEvents).list(query, filter);
  }

  @Query(() => AuditHead, { description: "Returns the end of the organization's audit log." })
  async auditHead(@Ctx() { scope }: Context) {
    await scope.of(AuditLog).seal();
    return scope.of(AuditLog).head();
  }
}
