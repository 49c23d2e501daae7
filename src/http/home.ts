import type { RequestHandler } from "express";
import type { Ports } from "../platform/ports/ports";
import { escapeHtml, sendPlainPage } from "./plain-page";

const PATHS = {
  graphql: "/graphql",
  widget: "/widget/demo",
  rest: "/rest/v1",
  documentation: "/rest/docs",
  openapi: "/rest/openapi.json",
  health: "/health/ready",
};

const LINKS: readonly (readonly [path: string, name: string, description: string])[] = [
  ["/docs", "Documentation", "First steps, guides and reference."],
  ["/graphql", "Playground", "Run GraphQL operations with your API key."],
  ["/rest/docs", "REST documentation", "Every path of the REST interface, to try in the page."],
  ["/widget/demo", "Widget demo", "Talk to an assistant as a visitor of a web page does."],
  ["/analytics", "Analytics", "Conversations, calls and unanswered questions."],
];

/** Features that are set up, by the settings of the server. */
type Setup = Pick<Ports, "models" | "voice">;

/** `GET /`: a page with links for browsers, the main paths for other clients. */
export function home(setup: Setup): RequestHandler {
  return (req, res) => {
    res.vary("Accept");
    if (req.accepts(["json", "html"]) !== "html") return void res.json(PATHS);
    const links = LINKS.map(
      ([path, name, description]) => `<li><a href="${path}">${name}</a><span>${description}</span></li>`,
    );
    const facts = factsOf(setup).map(([name, fact]) => `<dt>${name}</dt><dd>${escapeHtml(fact)}</dd>`);
    sendPlainPage(
      res,
      200,
      "Parley",
      `<h1>Parley</h1>
<p>This server runs AI assistants that talk to people on web pages, by SMS and on the phone.</p>
<ul>${links.join("")}</ul>
<h2>What is set up</h2>
<dl>${facts.join("")}</dl>`,
    );
  };
}

function factsOf({ models, voice }: Setup): (readonly [name: string, fact: string])[] {
  const vendors = Object.entries(models.credentials).flatMap(([name, { apiKey, baseUrl }]) =>
    (apiKey ?? baseUrl) === undefined ? [] : [name],
  );
  const answers =
    vendors.length > 0
      ? `by models of ${new Intl.ListFormat("en").format(vendors)}`
      : "looked up locally; organizations can set a key for a model";
  return [
    ["Answers", answers],
    ["Calls", voice.engine.real ? "placed by a voice engine" : "simulated; nobody is called"],
  ];
}
