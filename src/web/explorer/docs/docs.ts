interface SwaggerUI {
  readonly authActions: { restoreAuthorization(payload: { authorized: unknown }): void };
}
interface System {
  readonly authSelectors: { authorized(): { toJS(): unknown } };
}
declare function SwaggerUIBundle(options: Record<string, unknown>): SwaggerUI;

/** Where a key is kept until the tab is closed. Swagger's own way keeps it for every page of this origin, for ever. */
const KEPT = "parley-docs:authorized";
localStorage.removeItem("authorized"); // left by versions before

const keptForThisTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded:
          (_original: unknown, { authSelectors }: System) =>
          () => {
            sessionStorage.setItem(KEPT, JSON.stringify(authSelectors.authorized().toJS()));
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
    const kept = sessionStorage.getItem(KEPT);
    if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
  },
  tryItOutEnabled: true,
  // The default asks a public service whether the document is valid.
  validatorUrl: null,
});
