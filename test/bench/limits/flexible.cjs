// Preloaded into a server of the benchmark `limits`: rate-limiter-flexible counts each request in a shared store.
const { createRequire } = require("node:module");
const { Server } = require("node:http");
const { resolve } = require("node:path");
const { Pool } = require("pg");

const installed = createRequire(resolve(process.env.LIMITS_FOLDER, "package.json"));
const { RateLimiterPostgres, RateLimiterRedis } = installed("rate-limiter-flexible");
const { Redis } = installed("ioredis");

/** In one second, like Parley's limit of an organization. */
const options = { points: Number(process.env.LIMITS_POINTS), duration: 1, keyPrefix: "bench" };
const store = process.env.LIMITS_STORE;
const limiter = store.startsWith("redis:")
  ? new RateLimiterRedis({ ...options, storeClient: new Redis(store) })
  : new RateLimiterPostgres(
      { ...options, storeClient: new Pool({ connectionString: store, max: 5 }) },
      failed,
    );

function failed(error) {
  if (error) throw error;
}

const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...args) {
  if (event !== "request") return emit.call(this, event, ...args);
  const [, res] = args;
  limiter.consume("organization").then(
    ({ remainingPoints, msBeforeNext }) => {
      res.setHeader("RateLimit", `"organization";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1_000)}`);
      emit.call(this, event, ...args);
    },
    (refused) => res.writeHead(refused instanceof Error ? 500 : 429).end(String(refused)),
  );
  return true;
};
