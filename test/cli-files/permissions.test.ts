import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { beforeFirstMutation, Workplace } from "./folders";

const running = useApp();
const DESK = "key: desk\nname: Desk\n";
const CREATE = "mutation ($input: CreateKeyInput!) { createKey(input: $input) { id value } }";

/** A folder with an assistant, and a key of an organization without records. */
async function placeWith(input: { readonly permissions?: readonly string[]; readonly isLimited?: boolean }) {
  const { api } = await running.otherOrganization();
  const { isLimited, ...limits } = input;
  const only = async () =>
    (await api.gql('mutation { createAssistant(input: { name: "Only" }) { id } }')).createAssistant
      .id as string;
  const { createKey } = await api.gql(CREATE, {
    input: { type: "SECRET", ...limits, ...(isLimited && { assistantIds: [await only()] }) },
  });
  const { id, value } = createKey as { id: string; value: string };
  const place = new Workplace(emptyFolder(), { url: running.url, secretKey: value });
  place.write("assistants/desk.yaml", DESK);
  return { api, id, place };
}

/** The output of a command whose key lacks a permission: why the server refuses it, then which key is needed. */
const refused = (reason: string, command: string, needed: string) => ({
  code: 1,
  stdout: "",
  stderr: `${reason} parley ${command} needs a SECRET key without limits, or with the permissions ${needed.replace(/,(?=[^,]*$)/, " and ").replace(",", ", ")}: \`parley key:create --permissions ${needed}\` makes one on the server.\n`,
});

test.each<[args: string[], permissions: string[], reason: string, needed: string]>([
  [["apply"], ["read"], 'lacks the permission "webhooks"; it has read.', "read,write,webhooks"],
  [
    ["apply"],
    ["read", "webhooks"],
    'lacks the permission "write"; it has read, webhooks.',
    "read,write,webhooks",
  ],
  [["apply"], ["write"], 'lacks the permission "read"; it has write.', "read,write,webhooks"],
  [["apply", "--dry-run"], ["read"], 'lacks the permission "webhooks"; it has read.', "read,webhooks"],
  [["diff"], ["read"], 'lacks the permission "webhooks"; it has read.', "read,webhooks"],
  [["pull"], ["webhooks"], 'lacks the permission "read"; it has webhooks.', "read,write,webhooks"],
])(
  "parley %j with a key of the permissions %j names all that it needs before the plan",
  async ([name = "", ...options], permissions, reason, needed) => {
    const { place } = await placeWith({ permissions });
    expect(await place.run([name, ".", ...options])).toEqual(refused(`This key ${reason}`, name, needed));
  },
);

test("a key with the named permissions is enough, and one without write for a folder that has nothing new", async () => {
  const { place } = await placeWith({ permissions: ["read", "write", "webhooks"] });
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const { api, place: reading } = await placeWith({ permissions: ["read", "webhooks"] });
  expect(await reading.run(["diff", "."])).toMatchObject({ code: 2, stderr: "" });
  await api.gql('mutation { createAssistant(input: { name: "Desk", key: "desk" }) { id } }');
  expect(await reading.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
});

test("a key that is limited to assistants is refused with what to use instead", async () => {
  const { place } = await placeWith({ isLimited: true });
  const reason =
    "This key is limited to certain assistants and cannot access records of the whole organization.";
  expect(await place.run(["apply", "."])).toEqual(refused(reason, "apply", "read,write,webhooks"));
});

test("a pull that has to give a key to a record names what it needs", async () => {
  const { api, place } = await placeWith({ permissions: ["read", "webhooks"] });
  await api.gql('mutation { createAssistant(input: { name: "Other" }) { id } }');
  const reason = 'This key lacks the permission "write"; it has read, webhooks.';
  expect(await place.run(["pull", "."])).toEqual(refused(reason, "pull", "read,write,webhooks"));
});

test("a key that ends during an apply is named without a place in a file", async () => {
  const { api, id, place } = await placeWith({});
  const { url, stop } = await beforeFirstMutation(
    running.url,
    () => api.gql("mutation ($id: ID!) { deleteKey(id: $id) { id } }", { id }),
    "createAssistant",
  );
  const { code, stdout, stderr } = await place.run(["apply", ".", "--url", url]);
  stop();
  expect(stdout).toContain("assistant desk");
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^/]*key[^/]*\n$/i)]);
});
