import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { until } from "../support/until";
import { Workplace } from "./folders";

const running = useApp();
const closing: (() => unknown)[] = [];
afterAll(() => closing.forEach((close) => close()));

const SIZE = 40;
/** A ring of nodes with edges to the next and the last one. */
const ring = (name: string, size = SIZE) => `key: ring
name: Ring
nodes:
${Array.from({ length: size }, (_, index) => `  n${index}: { type: PROMPT, name: ${name} ${index} }`).join("\n")}
edges:
${Array.from({ length: size }, (_, index) => `  - { from: n${index}, to: n${(index + 1) % size}, kind: MODEL, description: ${name} }`).join("\n")}
`;

/** A folder whose commands go through `change`, which gets each request and returns the one to send. */
async function folder(change: (body: string) => string | Promise<string> = (body) => body) {
  const { api, secretKey } = await running.otherOrganization();
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = await request.toArray();
      const body = await change(Buffer.concat(chunks).toString());
      const answer = await fetch(`${running.url}${request.url}`, {
        method: request.method!,
        headers: { "X-API-Key": secretKey, "Content-Type": "application/json" },
        ...(request.method === "POST" && { body }),
      });
      response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type")! });
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api, place: new Workplace(emptyFolder(), { url, secretKey }) };
}

const namesIn = async (api: Api): Promise<[nodes: string[], edges: string[]]> => {
  const [workflow] = (await api.gql("{ workflows { nodes { name } edges { description } } }")).workflows;
  return [
    workflow.nodes.map(({ name }: { name: string }) => name.split(" ")[0]),
    workflow.edges.map(({ description }: { description: string }) => description),
  ];
};
const all = (name: string): [string[], string[]] => [
  Array<string>(SIZE).fill(name),
  Array<string>(SIZE).fill(name),
];

test("apply changes the graph of a workflow by one request", async () => {
  const bodies: string[] = [];
  const { api, place } = await folder((body) => {
    bodies.push(body);
    return body;
  });
  const changes = () =>
    bodies.splice(0).flatMap((body) => /"mutation[^"]* (\w+Workflow\w*)\(/.exec(body)?.slice(1) ?? []);
  place.write("workflows/ring.yaml", ring("old"));
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(changes()).toEqual(["createWorkflow", "replaceWorkflowGraph"]);
  place.write("workflows/ring.yaml", ring("new"));
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(changes()).toEqual(["replaceWorkflowGraph"]);
  expect(await namesIn(api)).toEqual(all("new"));
});

test("an apply that is killed while it changes a graph leaves the old or the new one", async () => {
  let pid: number | undefined;
  const { api, place } = await folder(async (body) => {
    if (body.includes("replaceWorkflowGraph") && body.includes("new 0")) {
      await until(() => pid !== undefined);
      process.kill(pid!, "SIGKILL");
    }
    return body;
  });
  place.write("workflows/ring.yaml", ring("old"));
  await place.run(["apply", "."]);
  const before = await namesIn(api);
  expect(before).toEqual(all("old"));
  place.write("workflows/ring.yaml", ring("new"));
  const { code } = await place.run(["apply", "."], (_, child) => (pid = child));
  expect(code).toBeNull();
  expect([before, all("new")]).toContainEqual(await namesIn(api));
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await namesIn(api)).toEqual(all("new"));
});

test("a refused value of a node or an edge is reported at its place, and the graph stays", async () => {
  // As a server of another version, whose rules the command does not know.
  const { api, place } = await folder((body) => body.replace('"a_b"', '"a b"').replace('"b_c"', '"b c"'));
  place.write("workflows/ring.yaml", ring("old"));
  await place.run(["apply", "."]);
  const broken = ring("new")
    .replace("name: new 3 }", "name: new 3, resultVariable: a_b }")
    .replace("description: new }", "description: new, collects: [a, b_c] }");
  place.write("workflows/ring.yaml", broken);
  const { code, stderr } = await place.run(["apply", "."]);
  expect([code, stderr.split("\n")]).toEqual([
    1,
    [
      expect.stringMatching(/^workflows\/ring\.yaml:7:52: nodes\.n3\.resultVariable must consist of/),
      expect.stringMatching(/^workflows\/ring\.yaml:45:70: edges\.0\.collects\.1 must consist of/),
      "",
    ],
  ]);
  expect(await namesIn(api)).toEqual(all("old"));
});

test("a graph that the file leaves in part stays as far as the file says nothing of it", async () => {
  const { api, place } = await folder();
  const { createAssistant } = await api.gql('mutation { createAssistant(input: { name: "Bea" }) { id } }');
  await api.gql('mutation ($id: ID!) { updateAssistant(id: $id, input: { key: "bea" }) { id } }', {
    id: createAssistant.id,
  });
  const nodes = (names: string) =>
    `key: w\nname: W\nnodes:\n  s: { type: START, name: S }\n${names}  e: { type: END, name: E }\n`;
  const talk = "  t: { type: PROMPT, name: T, assistant: bea }\n";
  const edges = "edges:\n  - { from: s, to: t }\n  - { from: t, to: e }\n  - { from: s, to: e, rank: 2 }\n";
  place.write("workflows/w.yaml", nodes(talk) + edges);
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const GRAPH = "{ workflows { nodes { id name assistant { id } } edges { id rank } } }";
  const [before] = (await api.gql(GRAPH)).workflows;
  place.write("workflows/w.yaml", nodes(talk).replace("name: E", "name: F"));
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const [renamed] = (await api.gql(GRAPH)).workflows;
  expect(renamed.edges).toEqual(before.edges);
  expect(renamed.nodes[1]).toEqual({ ...before.nodes[1], assistant: { id: createAssistant.id } });
  place.write("workflows/w.yaml", nodes(""));
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const [after] = (await api.gql(GRAPH)).workflows;
  expect(after.edges).toEqual([before.edges[2]]);
});

test("a server of an earlier version is to be upgraded", async () => {
  const { place } = await folder((body) => body.replaceAll("replaceWorkflowGraph", "unknownMutation"));
  place.write("workflows/ring.yaml", ring("old"));
  expect(await place.run(["apply", "."])).toMatchObject({
    code: 1,
    stderr:
      "The server cannot change the graph of a workflow at once. Upgrade the server to the version of this command.\n",
  });
});

test("functions that assistants of the files do not have are named before anything is applied", async () => {
  const { api, place } = await folder();
  const bea =
    "key: bea\nname: Bea\nchat:\n  functions:\n    - { name: find, serverUrl: https://example.com/f }\n";
  place.write("assistants/bea.yaml", bea);
  const nodes = `key: w
name: W
nodes:
  a: { type: ACTION, name: A, assistant: bea, functionName: find }
  b: { type: ACTION, name: B, assistant: bea, functionName: fnid }
  c: { type: ACTION, name: C, assistant: bea, functionName: crm_search }
  p: { type: PROMPT, name: P, assistant: bea }
edges:
  - { from: p, to: a, kind: FUNCTION, functionName: book }
`;
  place.write("workflows/w.yaml", nodes);
  const warned = (stdout: string) =>
    stdout
      .split("\n")
      .flatMap(
        (line) =>
          /^(workflows.*) Warning: The assistant bea has no function "(\w+)"/
            .exec(line)
            ?.slice(1)
            .join(" ") ?? [],
      );
  const FNID = "workflows/w.yaml:5:61: fnid";
  const SEARCH = "workflows/w.yaml:6:61: crm_search";
  const BOOK = "workflows/w.yaml:9:53: book";
  const alone = new Workplace(place.folder, { url: "", secretKey: "" });
  const valid = await alone.run(["validate", "."]);
  expect([valid.code, warned(valid.stdout)]).toEqual([0, [FNID, SEARCH, BOOK]]);
  expect(warned((await place.run(["diff", "."])).stdout)).toEqual([FNID, SEARCH, BOOK]);
  const { code, stdout } = await place.run(["apply", "."]);
  expect([code, warned(stdout)]).toEqual([0, [FNID, SEARCH, BOOK]]);
  expect(stdout.indexOf("fnid")).toBeLessThan(stdout.indexOf("Created"));
  const { assistants } = await api.gql("{ assistants { data { id } } }");
  await api.gql(
    `mutation ($id: ID!) {
      updateToolServers(assistantId: $id, servers: [{ name: "crm", url: "https://example.com/mcp", allowedTools: ["search"] }]) { id }
      updateVoiceConfiguration(assistantId: $id, input: { functions: [{ name: "book", serverUrl: "https://example.com/b" }] }) { id } }`,
    { id: assistants.data[0].id },
  );
  const later = await place.run(["diff", "."]);
  expect([later.code, warned(later.stdout)]).toEqual([0, [FNID]]);
});
