// A hand-written server with three endpoints and nothing else: Express, pg, prepared statements.
import type { AddressInfo } from "node:net";
import express, { type RequestHandler } from "express";
import { Pool } from "pg";
import { CHANNELS, FIELDS } from "./dashboard";

const { DATABASE_URL, SECRET_KEY = "", ORGANIZATION_ID = "" } = process.env;
const pool = new Pool({ connectionString: DATABASE_URL, max: 10 });
const organizations = new Map([[SECRET_KEY, ORGANIZATION_ID]]);

type Row = Record<string, unknown>;

async function rows(name: string, text: string, values: unknown[]): Promise<Row[]> {
  return (await pool.query<Row>({ name, text, values })).rows;
}

const column = (field: string) =>
  `${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${field}"`;
const columns = (fields: readonly string[]) => fields.map(column).join(", ");

const ASSISTANT = "select id, name, description, variables from assistants";
const LIVE = "where organization_id = $1 and deleted_at is null";
const ONE = `${ASSISTANT} ${LIVE} and id = $2`;
const PAGE = `${ASSISTANT} ${LIVE} order by id desc limit $2 offset $3`;
const COUNT = `select count(*) from assistants ${LIVE}`;
const LOGS = `select assistant_id, log.* from unnest($2::text[]) as wanted(assistant_id) cross join lateral
  (select id, channel as type, coalesce(label, phone_number, first_words) as label, started_at as "createdAt"
   from chats where organization_id = $1 and assistant_id = wanted.assistant_id order by id desc limit 5) as log`;

/** An assistant as sent: without absent fields. */
function assistant({ id, name, description, variables }: Row): Row {
  return {
    id,
    name,
    description: description ?? undefined,
    template: false,
    variables: variables ?? undefined,
  };
}

const key: RequestHandler = (req, res, next) => {
  const organization = organizations.get(String(req.headers["x-api-key"]));
  if (organization === undefined) return void res.status(401).json({ message: "unknown key" });
  res.locals.organization = organization;
  next();
};

const one: RequestHandler = async (req, res) => {
  const [found] = await rows("one", ONE, [res.locals.organization, req.params.id]);
  if (!found) return void res.status(400).json({ message: "no such assistant" });
  res.json(assistant(found));
};

const page: RequestHandler = async (req, res) => {
  const number = Number(req.query.page ?? 1);
  const take = Number(req.query.take ?? 20);
  const [data, [total]] = await Promise.all([
    rows("page", PAGE, [res.locals.organization, take, (number - 1) * take]),
    rows("count", COUNT, [res.locals.organization]),
  ]);
  const itemCount = Number(total?.count);
  const pageCount = Math.ceil(itemCount / take);
  const place = { page: number, take, itemCount, pageCount };
  res.json({
    data: data.map(assistant),
    meta: { ...place, hasPreviousPage: number > 1, hasNextPage: number < pageCount },
  });
};

/** Seven statements, one after another. */
const dashboard: RequestHandler = async (_req, res) => {
  const organization = res.locals.organization as string;
  const data = await rows("page", PAGE, [organization, 20, 0]);
  const [total] = await rows("count", COUNT, [organization]);
  const ids = data.map(({ id }) => id);
  const byId = new Map(data.map((row) => [row.id, row]));
  for (const channel of CHANNELS) {
    const text = `select assistant_id, ${columns(FIELDS[channel])} from ${channel}_configurations
      where organization_id = $1 and assistant_id = any($2::text[])`;
    for (const { assistant_id, ...row } of await rows(channel, text, [organization, ids]))
      byId.get(assistant_id)![channel] = row;
  }
  for (const row of data) row.logs = [];
  for (const { assistant_id, ...row } of await rows("logs", LOGS, [organization, ids]))
    (byId.get(assistant_id)!.logs as Row[]).push(row);
  res.json({ data: { assistants: { data, meta: { itemCount: Number(total?.count) } } } });
};

const app = express().disable("etag").disable("x-powered-by");
app.get("/health/ready", (_req, res) => void res.json({ status: "ok" }));
app.use(key);
app.get("/rest/v1/assistants/:id", one);
app.get("/rest/v1/assistants", page);
app.post("/graphql", express.json(), dashboard);
const server = app.listen(0, "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port} now`),
);
