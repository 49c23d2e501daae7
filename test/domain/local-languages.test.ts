import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { runNow } from "../support/jobs";
import { upload } from "../support/files";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content metadata } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`;
const ATTACH = `mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }`;
const STATUS = `query ($id: ID!) { assistant(id: $id) { files { status } } }`;

/** Two facts, a question about each in other forms of their words, a greeting and its answer, and a question about something else. */
interface Sample {
  readonly facts: readonly [string, string];
  readonly questions: readonly [string, string];
  readonly hello: readonly [string, string];
  readonly other: readonly [string, string];
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  ar: {
    facts: ["مواقف السيارات مجانية خلف المبنى.", "نفتح المكتب من التاسعة صباحا حتى السادسة مساء."],
    questions: ["أين توجد مواقف للسيارات؟", "متى يفتح المكتب؟"],
    hello: ["مرحبا", "مرحباً!"],
    other: ["ما هي عاصمة فرنسا؟", "لا أعرف ذلك"],
  },
  de: {
    facts: ["Parkplätze gibt es kostenlos hinter dem Haus.", "Wir haben von neun bis achtzehn Uhr geöffnet."],
    questions: ["Haben Sie einen Parkplatz?", "Wann wird geöffnet?"],
    hello: ["Guten Tag", "Hallo!"],
    other: ["Was ist die Hauptstadt von Frankreich?", "Das weiß ich nicht"],
  },
  en: {
    facts: ["Visitors park behind the house, free of charge.", "We open at nine and close at six."],
    questions: ["Is there parking?", "When are you opening?"],
    hello: ["Hello!", "Hello!"],
    other: ["What is the capital of France?", "I don't know that"],
  },
  es: {
    facts: [
      "El aparcamiento es gratuito detrás del edificio.",
      "La oficina se abre a las nueve y cierra a las seis.",
    ],
    questions: ["¿Hay aparcamientos?", "¿Cuándo abren las oficinas?"],
    hello: ["Buenos días", "¡Hola!"],
    other: ["¿Cuál es la capital de Francia?", "No lo sé"],
  },
  fr: {
    facts: [
      "Les places de stationnement sont gratuites derrière la maison.",
      "Le bureau est ouvert de neuf à dix-huit heures.",
    ],
    questions: ["Où stationner ?", "Quand les bureaux sont-ils ouverts ?"],
    hello: ["Bonjour", "Bonjour !"],
    other: ["Quelle est la capitale de la France ?", "Je ne sais pas"],
  },
  he: {
    facts: ["החניה חינם מאחורי הבניין.", "המשרד פתוח מתשע עד שש."],
    questions: ["האם יש חניה?", "מתי פתוח המשרד?"],
    hello: ["שלום", "שלום!"],
    other: ["מהי בירת צרפת?", "אני לא יודע"],
  },
  it: {
    facts: ["I parcheggi dietro la casa sono gratuiti.", "Apriamo l'ufficio dalle nove alle sei."],
    questions: ["C'è un parcheggio?", "Quando apre l'ufficio?"],
    hello: ["Buongiorno", "Buongiorno!"],
    other: ["Qual è la capitale della Francia?", "Non lo so"],
  },
  ja: {
    facts: ["建物の裏に無料の駐車場があります。", "営業時間は九時から六時までです。"],
    questions: ["駐車場はありますか？", "何時から営業していますか？"],
    hello: ["こんにちは", "こんにちは。"],
    other: ["フランスの首都はどこですか？", "わかりません"],
  },
  ko: {
    facts: ["건물 뒤에 무료 주차장이 있습니다.", "영업시간은 아홉 시부터 여섯 시까지입니다."],
    questions: ["주차장은 어디에 있나요?", "영업시간을 알려주세요"],
    hello: ["안녕하세요", "안녕하세요!"],
    other: ["프랑스의 수도는 어디입니까?", "모르겠습니다"],
  },
  nl: {
    facts: ["Bezoekers parkeren gratis achter het huis.", "De winkel is open van negen tot zes uur."],
    questions: ["Waar kunnen bezoekers parkeren?", "Wanneer zijn jullie open?"],
    hello: ["Goedemorgen", "Hallo!"],
    other: ["Wat is de hoofdstad van Frankrijk?", "Dat weet ik niet"],
  },
  pl: {
    facts: ["Bezpłatny parking znajduje się za budynkiem.", "Otwieramy biuro o dziewiątej rano."],
    questions: ["Gdzie jest bezpłatne parkowanie?", "Kiedy otwieracie?"],
    hello: ["Dzień dobry", "Dzień dobry!"],
    other: ["Co jest stolicą Francji?", "Tego nie wiem"],
  },
  pt: {
    facts: ["Os estacionamentos atrás do prédio são gratuitos.", "Abrimos o escritório das nove às seis."],
    questions: ["Há um estacionamento?", "Quando abre o escritório?"],
    hello: ["Bom dia", "Olá!"],
    other: ["Qual é a capital da França?", "Não sei"],
  },
  tr: {
    facts: ["Binanın arkasında ücretsiz otopark var.", "Ofisimiz dokuzda açılır ve altıda kapanır."],
    questions: ["Otoparkınız nerede?", "Ofis ne zaman açılıyor?"],
    hello: ["Merhaba", "Merhaba!"],
    other: ["Fransa'nın başkenti neresidir?", "Bunu bilmiyorum"],
  },
  zh: {
    facts: ["大楼后面可以免费停车。", "我们早上九点开始营业，晚上六点关门。"],
    questions: ["请问哪里可以停车？", "你们几点营业？"],
    hello: ["你好", "您好！"],
    other: ["法国的首都是哪里？", "这个我不知道"],
  },
};

async function talkTo(assistantId: string) {
  const { startChat } = await running.api.gql(START, { input: { assistantId } });
  return async (content: string) => {
    const input = { aiChatId: startChat.id, role: "USER", channel: "TEXT", content, metadata: {} };
    return (await running.api.gql(POST, { input })).postMessage as { content: string; metadata: object };
  };
}

async function newAssistant(resources: string): Promise<string> {
  const { id } = await running.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, { initialMessage: "", resources }, 200);
  return id;
}

async function attachText(assistantId: string, content: string): Promise<void> {
  const { id: fileId } = await upload(running.api, { name: "facts.md", content });
  await running.api.gql(ATTACH, { assistantId, fileId });
  await until(async () => {
    await runNow(running.database, "attempts > 0");
    const { assistant } = await running.api.gql(STATUS, { id: assistantId });
    return assistant.files[0].status === "READY";
  });
}

describe("without a model, an assistant answers in the language of its texts", () => {
  test.each(Object.entries(SAMPLES))("from resources: %s", async (_language, sample) => {
    const say = await talkTo(await newAssistant(sample.facts.join("\n\n")));
    const hello = await say(sample.hello[0]);
    expect(hello.content.startsWith(sample.hello[1])).toBe(true);
    for (const [at, question] of sample.questions.entries())
      expect(await say(question)).toMatchObject({ content: sample.facts[at], metadata: { local: true } });
    const other = await say(sample.other[0]);
    expect(other.content).toContain(sample.other[1]);
    expect(other.metadata).toMatchObject({ local: true });
    expect(other.metadata).not.toHaveProperty("citations");
  });

  test.each(Object.entries(SAMPLES))("from files: %s", async (_language, sample) => {
    const assistantId = await newAssistant("");
    // Each fact is a passage, as headings divide them.
    await attachText(assistantId, sample.facts.map((fact, at) => `# ${at + 1}\n\n${fact}`).join("\n\n"));
    const say = await talkTo(assistantId);
    for (const [at, question] of sample.questions.entries()) {
      const { content, metadata } = await say(question);
      expect(content).toContain(sample.facts[at]);
      expect(metadata).toMatchObject({ local: true, citations: [{ source: "facts.md" }] });
    }
  });

  test("from texts in several languages, each in its own", async () => {
    const facts = Object.entries(SAMPLES).flatMap(([language, { facts }]) =>
      ["de", "en", "fr", "ja"].includes(language) ? [`${facts[0]} ${facts[1]}`.repeat(2)] : [],
    );
    const assistantId = await newAssistant(facts.join("\n\n"));
    for (const [at, language] of ["de", "en", "fr", "ja"].entries()) {
      const say = await talkTo(assistantId);
      expect((await say(SAMPLES[language]!.questions[0])).content).toBe(facts[at]);
    }
  });

  test.each(["ar", "de", "fr", "he", "pl"])(
    "from a text in English with short passages in another language: %s",
    async (language) => {
      const { facts, questions } = SAMPLES[language]!;
      const english = SAMPLES.en!.facts.join(" ").repeat(4);
      for (const attach of [false, true]) {
        const text = [english, ...facts].map((passage, at) => `# ${at + 1}\n\n${passage}`).join("\n\n");
        const assistantId = await newAssistant(attach ? "" : text);
        if (attach) await attachText(assistantId, text);
        const say = await talkTo(assistantId);
        for (const [at, question] of questions.entries())
          expect((await say(question)).content).toContain(facts[at]);
      }
    },
  );

  const PRICES = {
    de: {
      facts: ["Neuer Schlauch: Ein neuer Schlauch kostet 14 Euro.", "Bremsbeläge: 18 Euro je Rad."],
      known: ["Was kostet ein neuer Schlauch?", "Wie viel kosten Bremsbeläge?"],
      unknown: ["Was kostet ein neuer Sattel?", "Wie ist der Preis einer neuen Kette?"],
    },
    en: {
      facts: ["Flat tire: A new tube costs 14 euros.", "Brake pads: New pads cost 18 euros per wheel."],
      known: ["What does a new tube cost?", "How much are new brake pads?"],
      unknown: ["How much is a new saddle?", "What does a new chain cost?"],
    },
    fr: {
      facts: [
        "Crevaison : une nouvelle chambre à air coûte 14 euros.",
        "Plaquettes de frein : le prix est de 18 euros.",
      ],
      known: ["Combien coûte une nouvelle chambre à air ?", "Quel est le prix des plaquettes de frein ?"],
      unknown: ["Combien coûte une nouvelle selle ?", "Quel est le prix d'une chaîne ?"],
    },
  };

  test.each(Object.entries(PRICES))(
    "with the price of what was asked, or none: %s",
    async (_language, sample) => {
      const say = await talkTo(await newAssistant(sample.facts.join("\n\n")));
      for (const [at, question] of sample.known.entries())
        expect([question, (await say(question)).content]).toEqual([question, sample.facts[at]]);
      for (const question of sample.unknown) expect((await say(question)).content).not.toContain("euro");
    },
  );

  const SHOP = [
    ["Opening hours", "We are open from nine to six."],
    ["Parking", "You can park behind the shop."],
    ["Payment", "We accept cards and cash."],
  ] as const;
  const ASKED = ["When are you open?", "Where can I park?", "Which cards do you accept?"];

  test.each([
    ["titles above their lines", (title: string, text: string) => `${title}\n${text}`],
    ["titles with an empty line below", (title: string, text: string) => `${title}\n\n${text}`],
    ["titles in Markdown", (title: string, text: string) => `## ${title}\n\n${text}`],
  ])("with the part that was asked for alone: %s", async (_name, write) => {
    const text = SHOP.map(([title, below]) => write(title, below)).join("\n\n");
    const withFile = await newAssistant("");
    await attachText(withFile, text);
    for (const assistantId of [withFile, await newAssistant(text)]) {
      const say = await talkTo(assistantId);
      for (const [at, question] of ASKED.entries())
        expect([question, (await say(question)).content]).toEqual([question, SHOP[at]!.join(": ")]);
    }
  });

  test("without the heading in Markdown above other titles", async () => {
    const say = await talkTo(await newAssistant("## Dogs\n\nPayment\nWe accept cards and cash."));
    expect((await say("Which cards do you accept?")).content).toBe("Payment: We accept cards and cash.");
  });

  test("without a line that is no title: a telephone number or an address", async () => {
    const say = await talkTo(
      await newAssistant("Call 030 123456\n\nshop@example.com\n\nWe accept cards and cash."),
    );
    expect((await say("Which cards do you accept?")).content).toBe("We accept cards and cash.");
  });

  test("to a question about prices alone from a text about prices", async () => {
    const say = await talkTo(await newAssistant("Our prices: a haircut costs 30 euros."));
    for (const question of ["What are your prices?", "How much does it cost?"])
      expect((await say(question)).content).toBe("Our prices: a haircut costs 30 euros.");
  });

  test("from passages that an older server has indexed", async () => {
    const assistantId = await newAssistant("");
    await attachText(assistantId, "Visitors park behind the house.");
    await running.database.query("update passages set language = null, terms = null");
    expect((await (await talkTo(assistantId))("Is there parking?")).content).toBe(
      "Visitors park behind the house.",
    );
  });
});
