import { routes } from "../../rest-compat/routes/index";
import type { RunningApp } from "../support/app";
import { exampleOf } from "../support/examples";
import { variables } from "../support/operations";
import { buildWorld, namedBy, type World } from "../support/world";
import type { Tokens } from "./sides";

/** Records of the certificate's data. */
export interface Seed {
  /** Shared by everything that only reads. */
  readonly world: World;
  /** Own records of each mutation, by the id of its row or the name of its operation. */
  readonly own: Readonly<Record<string, World>>;
  readonly stranger: World;
  readonly tokens: Tokens;
  /** The destination that gets the events of all cases. */
  readonly destinationId: string;
}

/** @param mutations names of the mutations that get their own records */
export async function seedOf(app: RunningApp, mutations: readonly string[]): Promise<Seed> {
  const { api } = await app.otherOrganization();
  const stranger = await buildWorld(api);
  const own: Record<string, World> = {};
  const rows = routes.filter(({ document, method }) => document !== undefined && method !== "get");
  for (const { id } of rows) own[id] = await buildWorld(app.api, namedBy(exampleOf(id)));
  for (const name of mutations) {
    const example = variables[name];
    if (example) own[name] = await buildWorld(app.api, [...namedBy(example), ...visitor(name)]);
  }
  const world = await buildWorld(app.api);
  const issued = async (body: object): Promise<string> =>
    (await app.api.post("/rest/v1/organization/token", body, 200)).token as string;
  const { analyticUrl } = await app.api.get("/rest/v1/organization", 200);
  const destination = { url: "https://example.com/receiver", secret: "shared", name: "receiver" };
  const { id: destinationId } = await app.api.post("/rest/v1/settings", destination, 201);
  return {
    destinationId: destinationId as string,
    world,
    own,
    stranger,
    tokens: {
      token: await issued({}),
      "token of a user": await issued({ userId: "ada" }),
      "visitor's session": world.visitorToken!,
      "analytics token": new URL(analyticUrl as string).hash.replace("#token=", ""),
    },
  };
}

const visitor = (name: string) => (name.includes("Widget") ? (["visitorToken"] as const) : []);
