// The service's busiest paths, written by hand with Express and pg as a good engineer would: prepared statements, a pool,
// keys that are checked at each request and cached, transactions with an audit row.
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import express, { type RequestHandler } from "express";
import { Pool } from "pg";
import { auditEntry, changeChat, keys, run, transaction, type Row } from "./statements";

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const organizationOf = keys(pool);

const TYPES: Readonly<Record<string, "string" | "number" | "boolean">> = {
  ...{ initialMessage: "string", prompt: "string", resources: "string", provider: "string", model: "string" },
  ...{ temperature: "number", maxTokensOutput: "number", isRagEnabled: "boolean", forceRag: "boolean" },
  ...{ ragTriggerTopics: "string", preserveRagResult: "boolean", chatMode: "boolean" },
};

const withoutNulls = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
const assistant = (row: Row): Row => withoutNulls({ ...row, template: false });

const key: RequestHandler = async (req, res, next) => {
  const organization = await organizationOf(String(req.headers["x-api-key"]));
  if (organization === undefined) return void res.status(401).json({ message: "unknown key" });
  res.locals.organization = organization;
  next();
};

const organizationIn = (res: express.Response) => res.locals.organization as string;

const one: RequestHandler = async (req, res) => {
  const [found] = await run(pool, "one", [organizationIn(res), req.params.id]);
  if (!found) return void res.status(400).json({ message: "no such assistant" });
  res.json(assistant(found));
};

const page: RequestHandler = async (req, res) => {
  const number = Number(req.query.page ?? 1);
  const take = Number(req.query.take ?? 20);
  const [data, [total]] = await Promise.all([
    run(pool, "page", [organizationIn(res), take, (number - 1) * take]),
    run(pool, "count", [organizationIn(res)]),
  ]);
  const itemCount = Number(total?.count);
  const pageCount = Math.ceil(itemCount / take);
  const place = { page: number, take, itemCount, pageCount };
  res.json({
    data: data.map(assistant),
    meta: { ...place, hasPreviousPage: number > 1, hasNextPage: number < pageCount },
  });
};

/** A page of assistants with four configurations and five logs each. */
const dashboard: RequestHandler = async (req, res) => {
  const organization = organizationIn(res);
  const { take } = (req.body as { variables: { take: number } }).variables;
  const [data, [total]] = await Promise.all([
    run(pool, "page", [organization, take, 0]),
    run(pool, "count", [organization]),
  ]);
  const ids = data.map(({ id }) => id);
  const kinds = ["voice", "sms", "chat", "theme"] as const;
  const [logs, ...configurations] = await Promise.all([
    run(pool, "logs", [organization, ids]),
    ...kinds.map((kind) => run(pool, kind, [organization, ids])),
  ]);
  const byId = new Map(data.map((row) => [row.id, { ...row, logs: [] as Row[] } as Row & { logs: Row[] }]));
  kinds.forEach((kind, index) => {
    for (const { assistantId, ...row } of configurations[index]!) byId.get(assistantId)![kind] = row;
  });
  for (const { assistantId, ...row } of logs) byId.get(assistantId)!.logs.push(row);
  res.json({
    data: { assistants: { data: [...byId.values()], meta: { itemCount: Number(total?.count) } } },
  });
};

const change: RequestHandler = async (req, res) => {
  const organization = organizationIn(res);
  const id = String(req.params.id);
  const changes = req.body as Row;
  const wrong = Object.entries(changes).find(([name, value]) => typeof value !== TYPES[name]);
  if (wrong) return void res.status(400).json({ message: `${wrong[0]}: wrong type` });
  const row = await transaction(pool, async (db) => {
    const changed = await changeChat(db, organization, id, changes);
    if (!changed) return undefined;
    const entry = auditEntry("updateChatConfiguration", "Assistant", id, Object.keys(changes));
    await run(db, "audit", [organization, randomUUID(), entry]);
    return changed;
  });
  if (!row) return void res.status(400).json({ message: "no such assistant" });
  res.json(row);
};

const search: RequestHandler = async (req, res) => {
  const pattern = `%${(req.query.search as string).replace(/[\\%_]/g, "\\$&")}%`;
  const ids = [organizationIn(res), req.params.id];
  const [[found], logs] = await Promise.all([run(pool, "one", ids), run(pool, "search", [...ids, pattern])]);
  if (!found) return void res.status(400).json({ message: "no such assistant" });
  res.json(logs);
};

const create: RequestHandler = async (req, res) => {
  const organization = organizationIn(res);
  const { name, description = null, variables = null } = req.body as Row;
  if (typeof name !== "string" || name === "")
    return void res.status(400).json({ message: "name: is required" });
  const id = randomUUID();
  const row = await transaction(pool, async (db) => {
    const values = [organization, id, name, description, variables && JSON.stringify(variables)];
    const [made] = await run(db, "create", values);
    for (const statement of ["createVoice", "createSms", "createChat", "createTheme"] as const)
      await run(db, statement, [organization, id]);
    const entry = auditEntry("createAssistant", "Assistant", id, Object.keys(req.body as Row));
    await run(db, "audit", [organization, randomUUID(), entry]);
    return made!;
  });
  res.status(200).json(assistant(row));
};

const app = express().disable("etag").disable("x-powered-by");
app.get("/health/ready", (_req, res) => void res.json({ status: "ok" }));
app.use(key);
app.use(express.json());
app.get("/rest/v1/assistants/:id", one);
app.get("/rest/v1/assistants", page);
app.post("/rest/v1/assistants", create);
app.patch("/rest/v1/assistants/:id/chat", change);
app.get("/rest/v1/assistants/:id/logs", search);
app.post("/graphql", dashboard);
const server = app.listen(0, "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port} now`),
);
