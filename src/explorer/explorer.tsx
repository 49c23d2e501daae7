import "./workers";
import "graphiql/style.css";
import "./explorer.css";
import { createLocalStorage } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { createRoot } from "react-dom/client";
import { fetcher } from "./fetcher";
import { SharedHeaders } from "./shared-headers";
import { explorerTabs } from "./tabs";

const NO_KEY_YET = `{"X-API-Key": ""}`;

const defaultTabs = explorerTabs.map(({ query, variables }) => ({
  query,
  variables: variables && JSON.stringify(variables, undefined, 2),
  headers: NO_KEY_YET,
}));

function Explorer() {
  return (
    <GraphiQL
      fetcher={fetcher}
      // Other software on the same host and port may have used GraphiQL too.
      storage={createLocalStorage({ namespace: "parley-explorer" })}
      defaultTabs={defaultTabs}
      defaultHeaders={NO_KEY_YET}
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
        <span className="parley-brand">Parley</span>
      </GraphiQL.Logo>
      <SharedHeaders />
    </GraphiQL>
  );
}

const place = document.getElementById("explorer");
if (place) createRoot(place).render(<Explorer />);
