import "./workers";
import "graphiql/style.css";
import "./explorer.css";
import { GraphiQL } from "graphiql";
import { createRoot } from "react-dom/client";
import { fetcher } from "./fetcher";
import { forgetFormer, forThisTab } from "./session-storage";
import { SharedHeaders } from "./shared-headers";
import { explorerTabs } from "./tabs";

const EMPTY_HEADERS = `{"X-API-Key": ""}`;

const defaultTabs = explorerTabs.map(({ query, variables }) => ({
  query,
  variables: variables && JSON.stringify(variables, undefined, 2),
  headers: EMPTY_HEADERS,
}));

function clear() {
  forThisTab.clear();
  location.reload();
}

function Explorer() {
  return (
    <GraphiQL
      fetcher={fetcher}
      // The widget and other pages share this origin: a key must not outlive the tab.
      storage={forThisTab}
      defaultTabs={defaultTabs}
      defaultHeaders={EMPTY_HEADERS}
      defaultEditorToolsVisibility="headers"
      shouldPersistHeaders
      customScalarSchemas={{ JSON: {}, JSONObject: { type: "object" } }}
      inputValueDeprecation
      schemaDescription
    >
      <GraphiQL.Logo>
        <a className="parley-rest" href="/rest/docs">
          REST documentation
        </a>
        <button className="parley-clear" type="button" onClick={clear}>
          Clear key and tabs
        </button>
        <span className="parley-brand">Parley</span>
      </GraphiQL.Logo>
      <SharedHeaders />
    </GraphiQL>
  );
}

forgetFormer();
const place = document.getElementById("explorer");
if (place) createRoot(place).render(<Explorer />);
