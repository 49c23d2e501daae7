import type { RequestHandler } from "express";
import type { Ports } from "../../platform/ports/ports";
import { escapeHtml, sendPlainPage } from "./plain-page";

const PATHS = {
  graphql: "/graphql",
  widget: "/widget/demo",
  rest: "/rest/v1",
  documentation: "/rest/docs",
  openapi: "/rest/openapi.json",
  events: "/events/asyncapi.json",
  certificate: "/certificate",
  health: "/health/ready",
};

const LINKS: readonly (readonly [path: string, name: string, description: string])[] = [
  ["/docs", "Documentation", "First steps, guides and reference."],
  ["/graphql", "Playground", "Run GraphQL operations with your API key."],
  ["/rest/docs", "REST documentation", "Every path of the REST interface, to try in the page."],
  ["/widget/demo", "Widget demo", "Talk to an assistant as a visitor of a web page does."],
  ["/analytics", "Analytics", "Conversations, calls and unanswered questions."],
];

/** Features that are set up. */
interface Setup extends Pick<Ports, "voice"> {
  /** Who writes the answers of the default organization. */
  readonly answers: () => Promise<string>;
}

/** `GET /`: a page with links for browsers, the main paths for other clients. */
export function home(setup: Setup): RequestHandler {
  return async (req, res) => {
    res.vary("Accept");
    if (req.accepts(["json", "html"]) !== "html") return void res.json(PATHS);
    const links = LINKS.map(
      ([path, name, description]) => `<li><a href="${path}">${name}</a><span>${description}</span></li>`,
    );
    const facts = (await setupFacts(setup)).map(
      ([name, fact]) => `<dt>${name}</dt><dd>${escapeHtml(fact)}</dd>`,
    );
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

async function setupFacts({ answers, voice }: Setup): Promise<(readonly [name: string, fact: string])[]> {
  return [
    // The page has links to pages that need no database.
    ["Answers", await answers().catch(() => "unknown, because the database cannot be read")],
    ["Calls", voice.engine.real ? "placed by a voice engine" : "simulated; nobody is called"],
  ];
}
