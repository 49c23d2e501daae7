import "./workers";
import "graphiql/style.css";
import "./explorer.css";
import "./key-control";
import "./key-control.css";
import { GraphiQL } from "graphiql";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { fetcher } from "./fetcher";
import { FillIds } from "./fill-ids";
import { EDITOR_THEMES, EditorColors } from "./editor-colors";
import { forgetFormer, forThisTab } from "./session-storage";
import { explorerTabs } from "./tabs";
import { WrapLines } from "./wrap-lines";

const defaultTabs = explorerTabs.map(({ query, variables }) => ({
  query,
  variables: variables && JSON.stringify(variables, undefined, 2),
}));

function reset() {
  forThisTab.clear();
  location.reload();
}

/** JSON Schema of a text file in the variables; see upload.ts. */
const UPLOAD = {
  type: "object" as const,
  properties: { name: { type: "string" as const }, content: { type: "string" as const } },
  required: ["name", "content"],
};

function Explorer() {
  return (
    <GraphiQL
      fetcher={fetcher}
      storage={forThisTab}
      defaultTabs={defaultTabs}
      defaultEditorToolsVisibility="variables"
      // Headers may contain a credential: they last until the page is left.
      shouldPersistHeaders={false}
      showPersistHeadersSettings={false}
      customScalarSchemas={{ JSON: {}, JSONObject: { type: "object" }, Upload: UPLOAD }}
      editorTheme={EDITOR_THEMES}
      inputValueDeprecation
      schemaDescription
    >
      <GraphiQL.Logo>
        {createElement("parley-key")}
        <button className="parley-reset" type="button" onClick={reset}>
          Reset tabs
        </button>
        <a className="parley-link" href="/rest/docs">
          REST API
        </a>
        <a className="parley-link" href="/docs">
          Documentation
        </a>
        <h1 className="parley-brand">
          <a href="/">Parley</a>
          <span className="parley-page"> GraphQL playground</span>
        </h1>
      </GraphiQL.Logo>
      <FillIds />
      <EditorColors />
      <WrapLines />
    </GraphiQL>
  );
}

forgetFormer();
const place = document.getElementById("explorer");
if (place) createRoot(place).render(<Explorer />);
