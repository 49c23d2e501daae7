// The same paths with Apollo Server and resolvers by hand: DataLoader, prepared statements, transactions with an audit row.
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { ApolloServer, HeaderMap } from "@apollo/server";
import DataLoader from "dataloader";
import express from "express";
import { Pool } from "pg";
import { auditEntry, changeChat, keys, run, transaction, type Row } from "./statements";

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const organizationOf = keys(pool);

const typeDefs = `
  scalar JSON
  type Query { assistant(id: ID!): Assistant  assistants(page: Int = 1, take: Int = 20): AssistantPage! }
  type Mutation {
    createAssistant(input: CreateAssistantInput!): Assistant!
    updateChatConfiguration(assistantId: ID!, input: UpdateChatConfigurationInput!): Chat!
  }
  input CreateAssistantInput { name: String! description: String variables: JSON }
  input UpdateChatConfigurationInput {
    initialMessage: String prompt: String resources: String provider: String model: String temperature: Float
    maxTokensOutput: Int chatMode: Boolean
  }
  type AssistantPage { data: [Assistant!]! meta: Meta! }
  type Meta { page: Int! take: Int! itemCount: Int! pageCount: Int! hasPreviousPage: Boolean! hasNextPage: Boolean! }
  type Assistant {
    id: ID! name: String! description: String variables: JSON template: Boolean! createdAt: String! updatedAt: String!
    voice: Voice! sms: Sms! chat: Chat! theme: Theme! logs(take: Int = 5, search: String): [Log!]!
  }
  type Log { id: ID! type: String! label: String createdAt: String! }
  type Voice { initialMessage: String! prompt: String! provider: String! model: String! temperature: Float!
    voiceProvider: String! voice: String! functions: JSON! }
  type Sms { initialMessage: String! prompt: String! provider: String! model: String! temperature: Float!
    smsMode: Boolean! keywords: String! functions: JSON! }
  type Chat { initialMessage: String! prompt: String! provider: String! model: String! temperature: Float!
    chatMode: Boolean! functions: JSON! }
  type Theme { theme: JSON! mode: String! }`;

interface Context {
  readonly organization: string;
  readonly loaders: Readonly<Record<"voice" | "sms" | "chat" | "theme", DataLoader<string, Row>>>;
  readonly logs: DataLoader<string, Row[]>;
}

const iso = (field: string) => (row: Row) => (row[field] as Date).toISOString();
const configuration = (kind: keyof Context["loaders"]) => (row: Row, _args: unknown, context: Context) =>
  context.loaders[kind].load(String(row.id));

const resolvers = {
  Query: {
    assistant: async (_: unknown, { id }: { id: string }, { organization }: Context) =>
      (await run(pool, "one", [organization, id]))[0],
    assistants: async (
      _: unknown,
      { page, take }: { page: number; take: number },
      { organization }: Context,
    ) => {
      const [data, [total]] = await Promise.all([
        run(pool, "page", [organization, take, (page - 1) * take]),
        run(pool, "count", [organization]),
      ]);
      const itemCount = Number(total?.count);
      const pageCount = Math.ceil(itemCount / take);
      const place = { page, take, itemCount, pageCount };
      return { data, meta: { ...place, hasPreviousPage: page > 1, hasNextPage: page < pageCount } };
    },
  },
  Mutation: {
    createAssistant: (_: unknown, { input }: { input: Row }, { organization }: Context) =>
      transaction(pool, async (db) => {
        const id = randomUUID();
        const { name, description = null, variables = null } = input;
        const values = [organization, id, name, description, variables && JSON.stringify(variables)];
        const [made] = await run(db, "create", values);
        for (const statement of ["createVoice", "createSms", "createChat", "createTheme"] as const)
          await run(db, statement, [organization, id]);
        const entry = auditEntry("createAssistant", "Assistant", id, Object.keys(input));
        await run(db, "audit", [organization, randomUUID(), entry]);
        return made;
      }),
    updateChatConfiguration: (
      _: unknown,
      { assistantId, input }: { assistantId: string; input: Row },
      { organization }: Context,
    ) =>
      transaction(pool, async (db) => {
        const row = await changeChat(db, organization, assistantId, input);
        if (!row) throw new Error("no such assistant");
        const entry = auditEntry("updateChatConfiguration", "Assistant", assistantId, Object.keys(input));
        await run(db, "audit", [organization, randomUUID(), entry]);
        return row;
      }),
  },
  Assistant: {
    template: () => false,
    createdAt: iso("createdAt"),
    updatedAt: iso("updatedAt"),
    voice: configuration("voice"),
    sms: configuration("sms"),
    chat: configuration("chat"),
    theme: configuration("theme"),
    logs: ({ id }: Row, { search }: { search?: string }, { organization, logs }: Context) =>
      search === undefined
        ? logs.load(String(id))
        : run(pool, "search", [organization, id, `%${search.replace(/[\\%_]/g, "\\$&")}%`]),
  },
  Log: { createdAt: iso("createdAt") },
};

const apollo = new ApolloServer<Context>({ typeDefs, resolvers, csrfPrevention: false });

function contextOf(organization: string): Context {
  const byAssistant = (kind: keyof Context["loaders"]) =>
    new DataLoader<string, Row>(async (ids) => {
      const rows = await run(pool, kind, [organization, ids]);
      const found = new Map(rows.map((row) => [row.assistantId, row]));
      return ids.map((id) => found.get(id) ?? new Error(`no configuration of ${id}`));
    });
  const logs = new DataLoader<string, Row[]>(async (ids) => {
    const groups = new Map<unknown, Row[]>(ids.map((id) => [id, []]));
    for (const row of await run(pool, "logs", [organization, ids])) groups.get(row.assistantId)!.push(row);
    return ids.map((id) => groups.get(id)!);
  });
  const kinds = ["voice", "sms", "chat", "theme"] as const;
  const loaders = Object.fromEntries(
    kinds.map((kind) => [kind, byAssistant(kind)]),
  ) as unknown as Context["loaders"];
  return { organization, loaders, logs };
}

void apollo.start().then(listen);

function listen() {
  const app = express().disable("etag").disable("x-powered-by");
  app.get("/health/ready", (_req, res) => void res.json({ status: "ok" }));
  app.use(express.json());
  // As in @as-integrations/express5, with the key checked first.
  app.post("/graphql", async (req, res) => {
    const organization = await organizationOf(String(req.headers["x-api-key"]));
    if (organization === undefined) return void res.status(401).json({ message: "unknown key" });
    const headers = new HeaderMap();
    for (const [name, value] of Object.entries(req.headers))
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
    const answer = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: "POST", headers, search: "", body: req.body },
      context: () => Promise.resolve(contextOf(organization)),
    });
    for (const [name, value] of answer.headers) res.setHeader(name, value);
    res.status(answer.status ?? 200);
    res.end(answer.body.kind === "complete" ? answer.body.string : "");
  });
  const server = createServer(app).listen(0, "127.0.0.1", () =>
    console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port} now`),
  );
}
