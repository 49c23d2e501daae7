import { describe, expect, test } from "@jest/globals";
import { LANGUAGES, type Language } from "../../src/platform/language/detect-language";
import { PHRASES } from "../../src/platform/language/local-phrases";
import { localModel } from "../../src/platform/providers/local-model";
import type { ModelMessage, ModelRequest } from "../../src/platform/ports/text-model";
import { useApp } from "../support/app";
import { connect, newPerson, text } from "../support/sms";

const running = useApp({ WORKER: "on" });

/** Resources, words that do not tell a language, and a sentence that does. */
const SAMPLES: Readonly<
  Record<Language, { readonly resources: string; readonly words: string; readonly sentence: string }>
> = {
  ar: {
    resources: "مواقف السيارات مجانية خلف المبنى.",
    words: "نعم|لا|شكرا|مرحبا",
    sentence: "ما هي عاصمة فرنسا؟",
  },
  de: {
    resources: "Parkplätze gibt es kostenlos hinter dem Haus.",
    words: "hi|hallo|ja|nein|danke|ok|gut|ciao|Preis?",
    sentence: "Was ist die Hauptstadt von Frankreich?",
  },
  en: {
    resources: "# Hours\nWe are open from 9 to 5.",
    words: "Hi|Hello!|hey|ok|yes|no|bye|Thanks|Price?|parking",
    sentence: "What is the capital of France?",
  },
  es: {
    resources: "El aparcamiento es gratuito detrás del edificio.",
    words: "hola|sí|no|vale|gracias",
    sentence: "¿Cuál es la capital de Francia?",
  },
  fr: {
    resources: "Les places de stationnement sont gratuites derrière la maison.",
    words: "salut|oui|non|merci|Bonjour",
    sentence: "Quelle est la capitale de la France ?",
  },
  he: {
    resources: "החניה חינם מאחורי הבניין.",
    words: "כן|לא|תודה|שלום",
    sentence: "מהי בירת צרפת ומי גר שם?",
  },
  it: {
    resources: "I parcheggi dietro la casa sono gratuiti.",
    words: "ciao|sì|no|grazie",
    sentence: "Qual è la capitale della Francia?",
  },
  ja: {
    resources: "建物の裏に無料の駐車場があります。",
    words: "はい|どうも",
    sentence: "フランスの首都はどこですか？",
  },
  ko: {
    resources: "건물 뒤에 무료 주차장이 있습니다.",
    words: "네|예|안녕",
    sentence: "프랑스의 수도는 어디입니까?",
  },
  nl: {
    resources: "Bezoekers parkeren gratis achter het huis.",
    words: "hoi|ja|nee|oké|bedankt",
    sentence: "Wat is de hoofdstad van Frankrijk?",
  },
  pl: {
    resources: "Bezpłatny parking znajduje się za budynkiem.",
    words: "hej|tak|nie|ok|dobrze",
    sentence: "Co jest stolicą Francji?",
  },
  pt: {
    resources: "Os estacionamentos atrás do prédio são gratuitos.",
    words: "oi|sim|não|bom|olá",
    sentence: "Qual é a capital da França?",
  },
  tr: {
    resources: "Binanın arkasında ücretsiz otopark var.",
    words: "alo|evet|tamam|selam",
    sentence: "Fransa'nın başkenti neresidir?",
  },
  zh: { resources: "大楼后面可以免费停车。", words: "你好|是的|好的|喂", sentence: "法国的首都是哪里？" },
};
const NAMES = [
  ...["Alexander?", "Alexander", "Maria", "maria garcia", "Thomas Müller", "Mohammed", "Kowalski"],
  ...["Alexander Kowalski", "Maria da Silva Santos", "Jan van den Berg", "Theresa May", "Giulia", "田中太郎"],
  ...[
    "アレクサンダー",
    "김민수",
    "محمد علي",
    "דוד כהן",
    "Mehmet",
    "Zoë",
    "I am 42",
    "12:30",
    "👍",
    "https://example.com/de",
  ],
];
const WORDS = [...NAMES, ...Object.values(SAMPLES).flatMap(({ words }) => words.split("|"))];

/** What an assistant without a model says. @param texts its own texts */
async function answer(texts: readonly string[], ...said: string[]): Promise<string> {
  const messages = said.map((content, at): ModelMessage => {
    return { role: (said.length - at) % 2 === 1 ? "user" : "assistant", content };
  });
  const request = {
    messages,
    tools: [],
    quote: () => Promise.resolve(undefined),
    topics: () => Promise.resolve([]),
    texts: () => Promise.resolve(texts),
  };
  let whole = "";
  for await (const part of localModel.stream(request as unknown as ModelRequest))
    if (part.type === "text") whole += part.text;
  return whole;
}

/** The languages whose phrases an answer consists of. */
const languagesIn = (words: string): Language[] =>
  LANGUAGES.filter((language) => {
    const { hello, welcome, bye, unknown, ask } = PHRASES[language];
    return [unknown, ask].some((one) => words.includes(one)) || [hello, welcome, bye].includes(words);
  });

const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`;

async function say(assistantId: string, channel: string, ...said: string[]): Promise<string> {
  const { startChat } = await running.api.gql(START, { input: { assistantId, channel } });
  let content = "";
  for (const one of said) {
    const input = { aiChatId: startChat.id, role: "USER", channel, content: one, metadata: {} };
    ({ content } = (await running.api.gql(POST, { input })).postMessage as { content: string });
  }
  return content;
}

async function newAssistant(configuration: object): Promise<string> {
  const { id } = await running.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  for (const kind of ["chat", "sms"])
    await running.api.patch(`/rest/v1/assistants/${id}/${kind}`, configuration, 200);
  return id as string;
}

describe("without a model, an assistant keeps its language", () => {
  test.each(Object.entries(SAMPLES))(
    "when a short word or a name is said: %s",
    async (language, { resources }) => {
      const switched: string[] = [];
      for (const said of WORDS)
        for (const greeting of ["", "Hi", "Hello!"]) {
          const texts = language === "en" || greeting === "" ? [greeting, resources] : [resources];
          const found = languagesIn(await answer(texts, said));
          if (!found.includes(language as Language)) switched.push(`${said} (${greeting}): ${found.join()}`);
        }
      expect(switched).toEqual([]);
    },
  );

  test.each(Object.entries(SAMPLES))(
    "unless a whole sentence is in another one: %s",
    async (language, { resources }) => {
      const missed: string[] = [];
      for (const [other, { sentence }] of Object.entries(SAMPLES)) {
        const found = languagesIn(await answer(["", resources], sentence));
        if (!found.includes(other as Language)) missed.push(`${sentence}: ${found.join()}`);
        // A word after it changes nothing.
        const later = languagesIn(await answer(["", resources], sentence, "…", "ok"));
        if (!later.includes(other as Language)) missed.push(`ok after ${sentence}: ${later.join()}`);
      }
      expect(missed).toEqual([]);
      expect(languagesIn(await answer([SAMPLES[language as Language].sentence], "ok"))).toContain(language);
    },
  );

  test.each([
    ...["I can't log in", "I cant log in", "Can't log in", "Video no audio", "I can't", "I lost my password"],
    ...[
      "I forgot my password",
      "App keeps crashing",
      "Error on login",
      "Order not arrived",
      "No sound",
      "Battery dead",
    ],
    ...[
      "Do you deliver",
      "Need a refund",
      "Any discount today",
      "Is it free",
      "It doesn't work",
      "Table for two",
    ],
  ])("of an English assistant for what English visitors write first: %s", async (said) => {
    const texts = [
      "Hi!",
      "# Opening hours\nWe are open from Monday to Friday. Visitors park behind the house.",
    ];
    for (const asked of [[said], [said, "…", "ok"]])
      expect(languagesIn(await answer(texts, ...asked))).toEqual(["en"]);
  });

  test.each([
    ...["ログインできない", "返品したい", "予約したい", "まだ届かない", "駐車場はありますか"].map((said) => [
      "ja",
      said,
    ]),
    ...["로그인이 안 돼요", "환불해 주세요", "주차장 있나요"].map((said) => ["ko", said]),
    ...["我无法登录", "我要退货", "有停车场吗"].map((said) => ["zh", said]),
    ...["لا أستطيع الدخول", "أريد استرداد المال", "كَيْفَ أَدْخُلُ؟", "هل يوجد موقف؟"].map((said) => ["ar", said]),
    ...["אני לא מצליח להתחבר", "יש חניה?"].map((said) => ["he", said]),
  ])(
    "but not when a short sentence is in another script, which no name is: %s %s",
    async (language, said) => {
      const texts = ["Hi!", "# Opening hours\nWe are open from Monday to Friday."];
      expect(languagesIn(await answer(texts, said!))).toEqual([language]);
    },
  );

  test.each(["こんにちは。予約したい", "您好，我要退货"])(
    "with the punctuation of its script: %s",
    async (said) => {
      expect(await answer([""], said)).toMatch(/。$/);
      expect(await answer([""], said)).not.toMatch(/[ .]/);
    },
  );

  test("of the longest text if they differ, and English if nothing tells", async () => {
    const { de, fr, en } = SAMPLES;
    expect(languagesIn(await answer(["Bonjour !", de.resources], "hi"))).toContain("de");
    expect(languagesIn(await answer([fr.sentence, de.resources], "hi"))).toContain("fr");
    expect(languagesIn(await answer(["Bonjour !", ""], "ok"))).toContain("fr");
    for (const said of ["hi", "hey", "ok", "Alexander?", "12:30"])
      expect([said, languagesIn(await answer(["Hi", ""], said))]).toEqual([said, ["en"]]);
    expect(languagesIn(await answer([""], "merci"))).toContain("fr");
    expect(languagesIn(await answer(["", en.resources], "Guten Tag"))).toContain("de");
  });

  test.each(["TEXT", "SMS"])("in its chats: %s", async (channel) => {
    const english = await newAssistant({ initialMessage: "Hi", resources: SAMPLES.en.resources });
    const german = await newAssistant({
      initialMessage: "",
      resources: SAMPLES.de.resources,
      prompt: "You are the receptionist of a practice. Answer in one or two friendly sentences.",
    });
    for (const said of ["hi", "Alexander?"]) {
      expect(languagesIn(await say(english, channel, said))).toEqual(["en"]);
      expect(languagesIn(await say(german, channel, said))).toEqual(["de"]);
    }
    const asked = [SAMPLES.fr.sentence, "ok"];
    expect(languagesIn(await say(english, channel, ...asked))).toEqual(["fr"]);
  });

  test("of its prompt without other texts", async () => {
    const id = await newAssistant({
      initialMessage: "",
      prompt: "Du bist die Empfangsdame einer Praxis. Antworte freundlich und in kurzen Sätzen.",
    });
    expect(languagesIn(await say(id, "TEXT", "ok"))).toEqual(["de"]);
  });

  test("in answers to texts from a phone", async () => {
    const id = await newAssistant({ initialMessage: "", resources: SAMPLES.en.resources });
    const number = await connect(running, [id]);
    const from = newPerson();
    for (const said of ["hi", "Alexander?", "ok"])
      expect([said, languagesIn((await text(running, number, from, said)).join(" "))]).toEqual([
        said,
        ["en"],
      ]);
  });
});
