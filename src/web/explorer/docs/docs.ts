import "../key-control";
import { accessible } from "./accessible";
import { keepCorrected } from "./corrections";
import { quickReferences } from "./resolve-subtree";
import { currentKey, forgetKey, onKeyChange, setKey } from "../key";

interface SwaggerUI {
  preauthorizeApiKey(scheme: string, key: string): void;
  readonly authActions: {
    restoreAuthorization(payload: { authorized: unknown }): void;
    logout(schemes: readonly string[]): void;
  };
  readonly layoutActions: { parseDeepLinkHash(hash: string): void };
}
interface System {
  readonly authSelectors: { authorized(): { toJS(): Record<string, { readonly value?: unknown }> } };
}
declare function SwaggerUIBundle(options: Record<string, unknown>): SwaggerUI;

/** Security scheme of the OpenAPI document whose key the playground shares. */
const SHARED = "apiKey";
/** Session storage entry of the other credentials. Swagger's own storage would keep them forever, for every page of this origin. */
const STORAGE_KEY = "parley-docs:authorized";
localStorage.removeItem("authorized"); // written by earlier versions

const keptForThisTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        // Each field takes the focus when it appears, so the last one would keep it.
        showDefinitions: (original: (schemes: unknown) => unknown) => (schemes: unknown) => {
          requestAnimationFrame(() => document.querySelector<HTMLElement>(".auth-container input")?.focus());
          return original(schemes);
        },
        persistAuthorizationIfNeeded:
          (_original: unknown, { authSelectors }: System) =>
          () => {
            const { [SHARED]: shared, ...others } = authSelectors.authorized().toJS();
            sessionStorage.setItem(STORAGE_KEY, JSON.stringify(others));
            if (typeof shared?.value === "string") setKey(shared.value);
            else if (currentKey()) forgetKey();
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

const place = document.getElementById("docs");
if (place) keepCorrected(place);

function useKey() {
  const key = currentKey();
  if (key) ui.preauthorizeApiKey(SHARED, key);
  else ui.authActions.logout([SHARED]);
}

// Swagger opens links in new tabs, which have no key.
document.addEventListener("click", ({ target }) => {
  const link = (target as Element).closest("a");
  if (link?.origin === location.origin) link.target = "_self";
});

const ui = SwaggerUIBundle({
  url: "/rest/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  plugins: [keptForThisTab, accessible, quickReferences],
  onComplete: () => {
    const kept = sessionStorage.getItem(STORAGE_KEY);
    if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
    if (currentKey()) useKey();
    onKeyChange(useKey);
  },
  tryItOutEnabled: true,
  // By default Swagger UI sends the document to a public validation service.
  validatorUrl: null,
});

// Swagger reads the address only when it loads the document; its own changes cause no event.
addEventListener("hashchange", () => {
  ui.layoutActions.parseDeepLinkHash(location.hash);
  const [, ...names] = location.hash.slice(1).split("/");
  document.getElementById(["operations", ...names].join("-"))?.scrollIntoView();
});
