interface SwaggerUI {
  readonly authActions: { restoreAuthorization(payload: { authorized: unknown }): void };
}
interface System {
  readonly authSelectors: { authorized(): { toJS(): unknown } };
}
declare function SwaggerUIBundle(options: Record<string, unknown>): SwaggerUI;

/** Session storage entry of the key. Swagger's own storage would keep the key forever, for every page of this origin. */
const STORAGE_KEY = "parley-docs:authorized";
localStorage.removeItem("authorized"); // written by earlier versions

const keptForThisTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded:
          (_original: unknown, { authSelectors }: System) =>
          () => {
            sessionStorage.setItem(STORAGE_KEY, JSON.stringify(authSelectors.authorized().toJS()));
            return { type: "parley_kept" };
          },
      },
    },
  },
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followSystem);
followSystem();

const ui = SwaggerUIBundle({
  url: "/rest/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  plugins: [keptForThisTab],
  onComplete: () => {
    const kept = sessionStorage.getItem(STORAGE_KEY);
    if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
  },
  tryItOutEnabled: true,
  // By default Swagger UI sends the document to a public validation service.
  validatorUrl: null,
});
