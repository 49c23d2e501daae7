// Whether the server in this container can answer requests: exit code 0 or 1.
const response = await fetch(`http://127.0.0.1:${process.env.PORT ?? 4000}/health/ready`, {
  signal: AbortSignal.timeout(4_000),
}).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
