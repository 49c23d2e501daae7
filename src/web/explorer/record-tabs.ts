import { ASSISTANT_ID, DESTINATION_ID, FILE_ID, type ExplorerTab } from "./placeholders";

export const files: ExplorerTab = {
  query: `# Here "file" is a name and a text; the playground sends
# them as a file. Programs can send PDF and Word files, too:
# /docs/graphql-clients explains uploads.

query Files {
  files(order: desc, page: 1, take: 10) {
    data { id name size createdAt }
    meta { itemCount }
  }
}

mutation UploadFile($file: Upload!) {
  uploadFile(file: $file) { id name size detectedType }
}

# The assistant answers from attached files.
mutation AttachFile($assistantId: ID!, $fileId: ID!) {
  attachFile(assistantId: $assistantId, fileId: $fileId) {
    files { name status passages problem }
  }
}
`,
  variables: {
    file: { name: "parking.md", content: "# Parking\n\nGuests park behind the house, free of charge." },
    assistantId: ASSISTANT_ID,
    fileId: FILE_ID,
  },
};

export const webhooks: ExplorerTab = {
  query: `# Events are sent to a destination as signed POST requests.
# Create one with the URL of your receiver, test it, then run
# "Webhooks" again to see what it has answered.

query Webhooks {
  webhookDestinations {
    id
    name
    url
    enabled
    deliveries(first: 5) {
      nodes {
        status
        event { name createdAt }
        attempts { number status error durationMs }
      }
    }
  }
}

mutation CreateDestination($input: CreateWebhookDestinationInput!) {
  createWebhookDestination(input: $input) { id url enabled }
}

mutation TestDestination($id: ID!) {
  testWebhookDestination(id: $id) { id status }
}
`,
  variables: {
    input: { name: "My receiver", url: "https://receiver.example/events", secret: "change-this-secret" },
    id: DESTINATION_ID,
  },
};

export const models: ExplorerTab = {
  query: `# "TestModel" shows who answers for an identifier, and the
# provider's error. To use a server of your own, such as
# Ollama, run "SetModelMapping" with its address and model;
# with "model" alone it deletes the mapping.

query Models {
  modelMappings { model name provider baseUrl keyHint }
  modelCredentials { provider keyHint baseUrl }
}

mutation TestModel($test: TestModelInput!) {
  testModel(input: $test) { connected provider name text error durationMs }
}

mutation SetModelMapping($mapping: ModelMappingInput!) {
  setModelMapping(input: $mapping) { model name baseUrl }
}
`,
  variables: {
    test: { model: "GPT_4_O_MINI", message: "Say hello in one sentence." },
    mapping: { model: "GPT_4_O_MINI" },
  },
};

export const analytics: ExplorerTab = {
  query: `# Figures of the last 30 days; set "from" and "to" under
# "Variables" for others. /analytics shows them as a page.

query Analytics($input: AnalyticsInput!) {
  analytics(input: $input) {
    from
    to
    totals { conversations messages averageSeconds questions unanswered }
    days { date conversations }
    unansweredQuestions(first: 5) { question askedAt reason }
    webhooks { deliveries failed }
  }
}
`,
  variables: { input: { timezone: "UTC" } },
};
