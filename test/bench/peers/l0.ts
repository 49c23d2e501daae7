// The limit of the machine: node:http and pg with prepared statements, and nothing of what a service needs.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { auditEntry, changeChat, run, transaction, type Row } from "./statements";

const { DATABASE_URL, ORGANIZATION_ID: organization = "" } = process.env;
const pool = new Pool({ connectionString: DATABASE_URL, max: 10 });

type Answer = (path: readonly string[], query: string, body: Row) => Promise<unknown>;

const answers: Readonly<Record<string, Answer>> = {
  "GET one": async ([id]) => (await run(pool, "one", [organization, id]))[0],
  "GET page": async () => {
    const [data, [total]] = await Promise.all([
      run(pool, "page", [organization, 20, 20]),
      run(pool, "count", [organization]),
    ]);
    return { data, meta: { itemCount: total?.count } };
  },
  "GET logs": async ([id], query) => {
    const pattern = `%${new URLSearchParams(query).get("search")}%`;
    return run(pool, "search", [organization, id, pattern]);
  },
  "PATCH chat": async ([id], _query, body) =>
    transaction(pool, async (db) => {
      const row = await changeChat(db, organization, id!, body);
      await run(db, "audit", [organization, randomUUID(), auditEntry("change", "Assistant", id!, [])]);
      return row;
    }),
  "POST page": async (_path, _query, { name }) =>
    transaction(pool, async (db) => {
      const id = randomUUID();
      const [row] = await run(db, "create", [organization, id, name, null, null]);
      for (const statement of ["createVoice", "createSms", "createChat", "createTheme"] as const)
        await run(db, statement, [organization, id]);
      await run(db, "audit", [organization, randomUUID(), auditEntry("create", "Assistant", id, [])]);
      return row;
    }),
  "POST graphql": async () => {
    const [data, [total]] = await Promise.all([
      run(pool, "page", [organization, 20, 0]),
      run(pool, "count", [organization]),
    ]);
    const ids = data.map(({ id }) => id);
    const kinds = ["voice", "sms", "chat", "theme", "logs"] as const;
    const rest = await Promise.all(kinds.map((kind) => run(pool, kind, [organization, ids])));
    return { data, rest, total };
  },
};

const server = createServer((req, res) => void handle(req, res));
server.listen(0, "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port} now`),
);

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path = "", query = ""] = req.url!.split("?");
  if (path === "/health/ready") return void res.end("{}");
  const parts = path.split("/").slice(4);
  const name = path === "/graphql" ? "graphql" : (parts[1] ?? (parts[0] ? "one" : "page"));
  let text = "";
  if (req.method !== "GET") for await (const chunk of req) text += String(chunk);
  const body = text === "" ? {} : (JSON.parse(text) as Row);
  const answer = JSON.stringify(await answers[`${req.method} ${name}`]!(parts, query, body));
  res.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(answer),
  });
  res.end(answer);
}
