import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { unchecked } from "../support/plans";

const running = useApp();
const LOGS = 900;
/** Time that a slow database takes for the search, in seconds: more than a count may take. */
const SLOW = 9;

const SEARCH = `query ($search: String) { logs(first: 1, filter: { search: $search }) { nodes { label } totalCount } }`;

test("the number of logs that a search finds is null, with a warning, if counting takes too long", async () => {
  const { api, database } = running;
  const assistantId = await newAssistant(api);
  const { id } = await api.get("/rest/v1/organization", 200);
  await database.query(
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label)
     select '${id}', 'log-' || n, '${assistantId}', 'TEXT', 'ended', 'none', 'Caller' from generate_series(1, ${LOGS}) n;
     insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, id, id, assistant_id, 1, 'USER', 'TEXT', 'a pizza' from chats where organization_id = '${id}'`),
  );
  const found = async () => (await api.graphql(SEARCH, { search: "zz" })).body;
  const complete = await found();
  expect(complete.data.logs).toEqual({ nodes: [{ label: "Caller" }], totalCount: LOGS });
  expect(complete.extensions?.warnings).toBeUndefined();
  await database.query(
    `alter function parley_searched_chats(text, text) rename to searched_chats;
     create function parley_searched_chats(pattern text, assistant text) returns setof text
     language plpgsql security definer as $$ begin
       perform pg_sleep(${SLOW});
       return query select searched_chats(pattern, assistant);
     end $$`,
  );
  const { data, errors, extensions } = await found();
  expect(errors).toBeUndefined();
  expect(data.logs).toEqual({ nodes: [{ label: "Caller" }], totalCount: null });
  expect(extensions.warnings).toEqual([
    "totalCount is null, because counting the logs that the search finds took too long. Add a condition such as startedAfter, or search for a longer text.",
  ]);
}, 30_000);
