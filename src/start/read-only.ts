/** Exactly this path: a proxy that hides it may compare the case of letters. */
export const METRICS = /^\/metrics$/;
const RECORDING = "/simulator/recordings/:id.wav";

/** Paths besides the REST routes that support only GET. */
const READ_ONLY = [
  "/",
  "/docs",
  "/docs/:name",
  "/rest/docs",
  "/rest/openapi.json",
  "/events/asyncapi.json",
  "/events/schemas/:name/:version",
  "/schemas/:name",
  "/analytics",
  "/widget/companion-widget.js",
  "/widget/frame",
  "/widget/voice",
  "/widget/demo",
  "/favicon.ico",
  "/certificate",
  "/certificate.json",
  "/files/:organizationId/:id",
  "/exports/:organizationId/:id",
  "/health/live",
  "/health/ready",
  "/assets/*path",
  "/docs/assets/*path",
  "/widget/assets/*path",
  METRICS,
];

/** Those of a server with an engine for calls: only simulated calls have recordings here. */
export const readOnlyPaths = (engine: { readonly real: boolean }) =>
  engine.real ? READ_ONLY : [...READ_ONLY, RECORDING];
