import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";

const running = useApp({ WORKER: "on" });

const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content metadata } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id messages { content } } }`;

/** A person's words, and words of the answer. */
type Turn = readonly [said: string, answered: string | RegExp];

const CONVERSATIONS: Readonly<Record<string, readonly Turn[]>> = {
  Receptionist: [
    ["Hello!", "Hello! Please ask me a question"],
    ["When are you open?", "Monday to Friday from 8:30 am to 5:30 pm."],
    ["Is there parking at your office?", "six visitor spaces behind the building"],
    ["How much does the first meeting cost?", "free of charge"],
    ["Can I talk to somebody from payroll?", "Ring 202-555-0142 during opening hours."],
    [
      "What is the capital of France?",
      /^I don't know that\. I can only look things up\. For example, ask me about “/,
    ],
    ["Thanks, bye!", "You're welcome. Goodbye!"],
  ],
  "Appointment booking": [
    ["Hi, what can you do for me?", "Hello! Please ask me a question, and I will look it up."],
    ["Which services do you offer?", "hygiene cleaning"],
    ["How long does a cleaning take?", "forty-five minutes"],
    ["What does it cost to cancel?", "a fee of 30 dollars"],
    ["Do you take my insurance?", "unless the insurer pays directly"],
    ["I would like to book an appointment", "Ring the front desk at 202-555-0176"],
    ["Great, thank you!", "You're welcome."],
  ],
  "Support desk": [
    ["I can't sign in", "Forgot password"],
    ["My import does not work", "Files must be CSV in UTF-8"],
    ["Where do I find my invoices?", "Invoices are under Settings, Billing"],
    ["What are your support hours?", "Monday to Friday from 7 am to 7 pm"],
    ["Who are you?", "Please ask me a question, and I will look it up."],
    ["Goodbye", "Goodbye!"],
  ],
  "Lead qualification": [
    ["Good morning", "Hello!"],
    ["What does a system cost?", "between 9,000 and 18,000 dollars"],
    ["Do I need a battery?", "A battery is optional"],
    ["Do you work in Boston?", "Northbridge and all towns within 60 miles"],
    ["How long is the warranty?", "Twelve years on workmanship"],
    ["Thank you very much", "You're welcome."],
  ],
  "Order status": [
    ["Hello, where is my order?", "Your order is where the link in the shipping e-mail shows it."],
    ["When will my parcel arrive?", "Standard delivery takes 3 to 5 working days"],
    ["My parcel arrived damaged", "Keep the packaging and take photos."],
    ["The parcel says delivered but it is not here", "wait one working day"],
    ["Can I still change the address?", "Possible until the parcel has shipped."],
    ["How do I return an item?", "within 30 days of delivery"],
    ["How long do refunds take?", "within five working days after the return has been checked"],
    ["That's all, thanks", "You're welcome."],
  ],
  "Satisfaction survey": [
    ["Yes, let's start", "Please ask me a question"],
    ["Why are you asking me?", "You recently used our service."],
    ["How long will it take?", "About two minutes."],
    ["Who can see my answers?", "The quality team."],
    ["How long do you keep my data?", "Twelve months."],
    ["Can I delete my answers?", "the request is passed on"],
    ["No, thank you. Bye", "You're welcome. Goodbye!"],
  ],
};

describe("without a model, a copy of a template holds a conversation", () => {
  test.each(
    Object.entries(CONVERSATIONS).flatMap(([name, turns]) =>
      ["TEXT", "SMS", "VOICE"].map((channel) => [name, channel, turns] as const),
    ),
  )("%s, %s", async (name, channel, turns) => {
    const { api } = running;
    const { data } = await api.get("/rest/v1/assistants/templates", 200);
    const template = data.find((one: { name: string }) => one.name === name);
    const { id: assistantId } = await api.post(
      `/rest/v1/assistants/duplicate/${template.id}`,
      undefined,
      200,
    );
    const { startChat } = await api.gql(START, { input: { assistantId, channel } });
    expect(startChat.messages[0].content).not.toContain("{");
    const prompts: string[] = [];
    for (const kind of ["chat", "sms", "voice"])
      prompts.push((await api.get(`/rest/v1/assistants/${assistantId}/${kind}`, 200)).prompt);
    for (const [content, answered] of turns) {
      const input = { aiChatId: startChat.id, role: "USER", channel, content, metadata: {} };
      const { postMessage } = await api.gql(POST, { input });
      expect([content, postMessage.content]).toEqual([content, expect.stringMatching(patternOf(answered))]);
      expect(postMessage.metadata).toMatchObject({ local: true });
      for (const prompt of prompts) expect(prompt).not.toContain(postMessage.content);
    }
  });
});

const patternOf = (answered: string | RegExp): RegExp =>
  typeof answered === "string" ? new RegExp(answered.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : answered;
