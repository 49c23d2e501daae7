// A PostgreSQL with pgvector for tests, independent of the machine: PGlite, PostgreSQL compiled to WebAssembly. All its
// clients share one session. Prints its port, and ends with its standard input.
import { PGlite } from "@electric-sql/pglite";
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const db = await PGlite.create({ extensions: { vector, pg_trgm, btree_gin } });
const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 20 });
server.addEventListener("listening", ({ detail }) => console.log(detail.port));
await server.start();
process.stdin.resume().once("end", () => process.exit(0));
