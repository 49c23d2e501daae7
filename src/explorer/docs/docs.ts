declare function SwaggerUIBundle(options: Record<string, unknown>): unknown;

const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followSystem);
followSystem();

SwaggerUIBundle({
  url: "/rest/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  // The default asks a public service whether the document is valid.
  validatorUrl: null,
});
