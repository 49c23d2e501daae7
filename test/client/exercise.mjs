// A program of a user, which runs in every runtime: it uses each part of the client once and returns the results.
import { createClient, ParleyError, verifyWebhook } from "parley/client";

const NAME = "query ($id: ID!) { assistant(id: $id) { name } }";
const RENAME = `mutation ($id: ID!) { updateAssistant(id: $id, input: { name: "Bea" }) { name } }`;

export async function exercise({ url, key, assistantId, delivery, secret }) {
  const parley = createClient({ url, key });
  const path = { id: assistantId };
  const read = await parley.rest.GET("/rest/v1/assistants/{id}", { params: { path } });
  const missing = await parley.rest.GET("/rest/v1/assistants/{id}", { params: { path: { id: "unknown" } } });
  const renamed = await parley.graphql(RENAME, path);
  const { assistant } = await parley.graphql(NAME, path);
  const refused = await parley.graphql(NAME, { id: "unknown" }).catch((error) => error);

  const chat = await parley.startChat({ assistantId });
  const answer = [];
  for await (const part of chat.send("When do you open?"))
    answer.push(part.type === "message" ? `${part.message.role}: ${part.message.content}` : part.text);
  const ended = await chat.end();
  const history = [];
  for await (const { message } of parley.chat(chat.id).events({ after: "0" }))
    if (message) history.push(message.content);

  const request = () => new Request("https://receiver.example/", { method: "POST", ...delivery });
  const verified = await verifyWebhook(request(), secret);
  const forged = await verifyWebhook(request(), "another").catch((error) => error);
  return {
    rest: [read.data.name, missing.error.code, missing.response.status],
    graphql: [renamed.updateAssistant.name, assistant.name],
    refused: [refused instanceof ParleyError, refused.code, refused.path],
    chat: [chat.greeting, answer, ended.status, history],
    webhook: [verified.event, verified.chatId, forged.code],
  };
}
