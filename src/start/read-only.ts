/** Exactly this path: a proxy that hides it may compare the case of letters. */
export const METRICS = /^\/metrics$/;
/** Paths besides the REST routes that support only GET. */
export const READ_ONLY = [
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
  METRICS,
];
