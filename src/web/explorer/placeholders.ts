/** An initial tab of the explorer. This file uses no browser API: a contract test validates the tabs against the schema. */
export interface ExplorerTab {
  /** GraphiQL shows the name of the first operation as the tab's title. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

// Placeholders of ids: single words, so that a double click selects them.
export const ASSISTANT_ID = "ASSISTANT_ID";
export const CHAT_ID = "CHAT_ID";
export const FILE_ID = "FILE_ID";
export const DESTINATION_ID = "DESTINATION_ID";

/** Fields that create a record, with the placeholder of its id. The playground fills the id into the variables of the tabs. */
export const GIVES: Readonly<Record<string, string>> = {
  createAssistant: ASSISTANT_ID,
  startChat: CHAT_ID,
  uploadFile: FILE_ID,
  createWebhookDestination: DESTINATION_ID,
};
