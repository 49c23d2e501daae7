// PostGraphile on the same tables, as its documentation describes it. The key is checked at each request and decides
// the organization, by which row-level security would limit the rows; here every request names it as a condition.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import pg from "pg";
import { grafserv } from "postgraphile/grafserv/node";
import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { postgraphile } from "postgraphile";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const known = new Map();

async function organizationOf(key) {
  const digest = createHash("sha256").update(String(key)).digest("base64url");
  if (!known.has(digest)) {
    const { rows } = await pool.query("select organization_id from bench_keys where digest = $1", [digest]);
    known.set(digest, rows[0]?.organization_id);
  }
  return known.get(digest);
}

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // Our indexes are partial and begin with the organization; the plugin would hide columns without one of their own.
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [makePgService({ pool, schemas: ["public"] })],
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
  gather: { installWatchFixtures: false },
});
const serv = instance.createServ(grafserv);
const server = createServer((req, res) => {
  if (req.url === "/health/ready") return void res.end("{}");

  void organizationOf(req.headers["x-api-key"]).then((organization) => {
    if (organization === undefined) return void res.writeHead(401).end();
    handler(req, res);
  });
});
const handler = serv.createHandler();
await serv.ready();
server.listen(0, "127.0.0.1", () => console.log(`ready at http://127.0.0.1:${server.address().port} now`));
