import type { Language } from "./detect-language";

/** `who` asks about the assistant itself; `nod` answers a question but asks none. */
export type Remark = "hello" | "thanks" | "bye" | "who" | "nod";

/** Remarks that the local model recognizes, and its own phrases, in one language. */
export interface Phrases {
  /** In lower case, separated by commas. */
  readonly heard: Readonly<Record<Remark, string>>;
  readonly hello: string;
  readonly welcome: string;
  readonly bye: string;
  readonly unknown: string;
  readonly ask: string;
  /** Before a list of topics. */
  readonly topics: string;
  /** If there are no topics to name. */
  readonly noTopics: string;
}

export const PHRASES: Readonly<Record<Language, Phrases>> = {
  en: {
    heard: {
      hello: "hello there,hello,hi there,hi,hey,good morning,good afternoon,good evening",
      thanks: "thank you very much,thank you so much,thank you,thanks a lot,many thanks,thanks,thx",
      bye: "goodbye,good bye,bye for now,bye bye,bye,see you later,see you,have a nice day",
      who: "what can you do for me,what can you do,what can i ask you,what can i ask,what do you know,how can you help me,how can you help,can you help me,i need help,help,who are you,who is this,are you a robot,are you a bot,are you human,are you a real person",
      nod: "yes please,yes,yeah,yep,no thanks,no,nope,ok,okay,sure,fine,great,good,all right,alright,perfect,i see,let's start,start,go ahead,that is all,that's all",
    },
    hello: "Hello!",
    welcome: "You're welcome.",
    bye: "Goodbye!",
    unknown: "I don't know that. I can only look things up.",
    ask: "Please ask me a question, and I will look it up.",
    topics: "For example, ask me about",
    noTopics: "Ask me in other words, and I will look again.",
  },
  de: {
    heard: {
      hello: "guten morgen,guten tag,guten abend,hallo,grüß gott,servus,moin,hi,hey",
      thanks: "vielen dank,danke schön,dankeschön,danke sehr,danke,besten dank",
      bye: "auf wiedersehen,auf wiederhören,tschüss,tschüß,bis bald,schönen tag noch,ciao",
      who: "was kannst du,was können sie,wobei können sie mir helfen,können sie mir helfen,kannst du mir helfen,wer sind sie,wer bist du,wer ist da,bist du ein bot,sind sie ein mensch,hilfe",
      nod: "ja bitte,ja,nein danke,nein,ok,okay,gut,alles klar,in ordnung,gerne,genau,super,los",
    },
    hello: "Hallo!",
    welcome: "Gern geschehen.",
    bye: "Auf Wiedersehen!",
    unknown: "Das weiß ich nicht. Ich schlage nur nach und zitiere.",
    ask: "Stellen Sie mir bitte eine Frage: Ich schlage nach und zitiere.",
    topics: "Fragen Sie mich zum Beispiel nach",
    noTopics: "Fragen Sie mit anderen Worten, dann sehe ich noch einmal nach.",
  },
  fr: {
    heard: {
      hello: "bonjour,bonsoir,salut,coucou,allô",
      thanks: "merci beaucoup,merci bien,merci",
      bye: "au revoir,à bientôt,bonne journée,bonne soirée,adieu",
      who: "que pouvez-vous faire,que peux-tu faire,pouvez-vous m'aider,peux-tu m'aider,qui êtes-vous,qui es-tu,aide,êtes-vous un robot",
      nod: "oui merci,oui,non merci,non,d'accord,ok,très bien,bien,parfait,c'est tout",
    },
    hello: "Bonjour !",
    welcome: "Je vous en prie.",
    bye: "Au revoir !",
    unknown: "Je ne sais pas. Je ne fais que chercher et citer des textes.",
    ask: "Posez-moi une question : je cherche et je cite des textes.",
    topics: "Par exemple, interrogez-moi sur",
    noTopics: "Demandez-le autrement et je chercherai de nouveau.",
  },
  es: {
    heard: {
      hello: "hola,buenos días,buenas tardes,buenas noches,buenas",
      thanks: "muchas gracias,mil gracias,gracias",
      bye: "adiós,hasta luego,hasta pronto,que tenga un buen día,chao",
      who: "qué puedes hacer,qué puede hacer,puedes ayudarme,puede ayudarme,me puede ayudar,quién eres,quién es usted,eres un robot,ayuda",
      nod: "sí por favor,sí,no gracias,no,vale,de acuerdo,ok,bien,perfecto,claro,eso es todo",
    },
    hello: "¡Hola!",
    welcome: "De nada.",
    bye: "¡Hasta luego!",
    unknown: "No lo sé. Solo busco textos y los cito.",
    ask: "Hágame una pregunta: busco textos y los cito.",
    topics: "Por ejemplo, pregúnteme por",
    noTopics: "Pregúntelo con otras palabras y volveré a buscar.",
  },
  it: {
    heard: {
      hello: "buongiorno,buon giorno,buonasera,salve,ciao",
      thanks: "grazie mille,molte grazie,tante grazie,grazie",
      bye: "arrivederci,a presto,buona giornata,addio",
      who: "cosa puoi fare,cosa può fare,puoi aiutarmi,può aiutarmi,chi sei,chi è lei,sei un robot,aiuto",
      nod: "sì grazie,sì,no grazie,no,va bene,ok,d'accordo,bene,perfetto,certo",
    },
    hello: "Buongiorno!",
    welcome: "Prego.",
    bye: "Arrivederci!",
    unknown: "Non lo so. Posso solo cercare testi e citarli.",
    ask: "Mi faccia una domanda: cerco testi e li cito.",
    topics: "Per esempio, mi chieda di",
    noTopics: "Lo chieda con altre parole e cercherò di nuovo.",
  },
  nl: {
    heard: {
      hello: "goedemorgen,goedemiddag,goedenavond,goedendag,hallo,hoi,hey",
      thanks: "heel erg bedankt,hartelijk dank,dank u wel,dank je wel,dank u,dank je,bedankt",
      bye: "tot ziens,tot straks,doei,fijne dag",
      who: "wat kunt u,wat kan je,wat kun je,kunt u mij helpen,kun je me helpen,wie bent u,wie ben je,ben je een robot,hulp",
      nod: "ja graag,ja,nee dank je,nee,oké,ok,goed,prima,graag",
    },
    hello: "Hallo!",
    welcome: "Graag gedaan.",
    bye: "Tot ziens!",
    unknown: "Dat weet ik niet. Ik zoek alleen teksten op en citeer ze.",
    ask: "Stel me een vraag: ik zoek teksten op en citeer ze.",
    topics: "Vraag me bijvoorbeeld naar",
    noTopics: "Vraag het met andere woorden, dan zoek ik opnieuw.",
  },
  pt: {
    heard: {
      hello: "olá,oi,bom dia,boa tarde,boa noite",
      thanks: "muito obrigado,muito obrigada,obrigado,obrigada",
      bye: "até logo,até breve,adeus,tchau,tenha um bom dia",
      who: "o que você pode fazer,o que pode fazer,pode me ajudar,pode ajudar-me,quem é você,quem és,você é um robô,ajuda",
      nod: "sim por favor,sim,não obrigado,não,ok,está bem,tudo bem,bom,perfeito,claro",
    },
    hello: "Olá!",
    welcome: "De nada.",
    bye: "Até logo!",
    unknown: "Não sei. Apenas procuro textos e os cito.",
    ask: "Faça-me uma pergunta: procuro textos e os cito.",
    topics: "Por exemplo, pergunte-me sobre",
    noTopics: "Pergunte com outras palavras e procurarei de novo.",
  },
  pl: {
    heard: {
      hello: "dzień dobry,dobry wieczór,cześć,witam,hej",
      thanks: "bardzo dziękuję,dziękuję bardzo,dziękuję,dzięki",
      bye: "do widzenia,do zobaczenia,na razie,miłego dnia",
      who: "co potrafisz,co możesz zrobić,w czym możesz pomóc,czy możesz mi pomóc,kim jesteś,kto mówi,jesteś botem,pomoc",
      nod: "tak proszę,tak,nie dziękuję,nie,ok,dobrze,jasne,świetnie",
    },
    hello: "Dzień dobry!",
    welcome: "Nie ma za co.",
    bye: "Do widzenia!",
    unknown: "Tego nie wiem. Wyszukuję tylko teksty i je cytuję.",
    ask: "Proszę zadać mi pytanie: wyszukuję teksty i je cytuję.",
    topics: "Proszę zapytać na przykład o",
    noTopics: "Proszę zapytać innymi słowami, a poszukam jeszcze raz.",
  },
  tr: {
    heard: {
      hello: "merhaba,selam,günaydın,iyi günler,iyi akşamlar,alo",
      thanks: "çok teşekkür ederim,teşekkür ederim,teşekkürler,çok teşekkürler,sağ olun,sağ ol",
      bye: "hoşça kal,hoşça kalın,güle güle,görüşürüz,görüşmek üzere",
      who: "ne yapabilirsin,ne yapabilirsiniz,bana yardım eder misin,yardım edebilir misiniz,sen kimsin,siz kimsiniz,robot musun,yardım",
      nod: "evet lütfen,evet,hayır teşekkürler,hayır,tamam,peki,olur,iyi,harika",
    },
    hello: "Merhaba!",
    welcome: "Rica ederim.",
    bye: "Hoşça kalın!",
    unknown: "Bunu bilmiyorum. Yalnızca metinlerde arar ve alıntılarım.",
    ask: "Lütfen bana bir soru sorun: metinlerde arar ve alıntılarım.",
    topics: "Örneğin şunları sorun:",
    noTopics: "Başka sözcüklerle sorun, yeniden arayayım.",
  },
  ar: {
    heard: {
      hello: "السلام عليكم,مرحبا,مرحباً,أهلا,أهلاً,صباح الخير,مساء الخير",
      thanks: "شكرا جزيلا,شكراً جزيلاً,شكرا لك,شكراً,شكرا",
      bye: "مع السلامة,إلى اللقاء,وداعا,وداعاً",
      who: "ماذا يمكنك أن تفعل,كيف يمكنك مساعدتي,هل يمكنك مساعدتي,من أنت,من معي,هل أنت روبوت,مساعدة",
      nod: "نعم من فضلك,نعم,لا شكرا,لا,حسنا,حسناً,تمام,موافق",
    },
    hello: "مرحباً!",
    welcome: "على الرحب والسعة.",
    bye: "إلى اللقاء!",
    unknown: "لا أعرف ذلك. أنا أبحث في النصوص وأقتبس منها فقط.",
    ask: "تفضل بطرح سؤال: أبحث في النصوص وأقتبس منها.",
    topics: "اسألني مثلاً عن",
    noTopics: "اسأل بكلمات أخرى وسأبحث من جديد.",
  },
  he: {
    heard: {
      hello: "שלום,היי,בוקר טוב,צהריים טובים,ערב טוב,אהלן",
      thanks: "תודה רבה,תודה",
      bye: "להתראות,ביי,יום טוב,יום נעים",
      who: "מה אתה יכול לעשות,במה אפשר לעזור,אתה יכול לעזור לי,אתם יכולים לעזור לי,מי אתה,מי זה,אתה רובוט,עזרה",
      nod: "כן בבקשה,כן,לא תודה,לא,בסדר,אוקיי,טוב,מעולה",
    },
    hello: "שלום!",
    welcome: "בשמחה.",
    bye: "להתראות!",
    unknown: "אני לא יודע. אני רק מחפש בטקסטים ומצטט מהם.",
    ask: "אפשר לשאול אותי שאלה: אני מחפש בטקסטים ומצטט מהם.",
    topics: "אפשר לשאול אותי למשל על",
    noTopics: "אפשר לשאול במילים אחרות ואחפש שוב.",
  },
  ja: {
    heard: {
      hello: "こんにちは,こんばんは,おはようございます,おはよう,はじめまして,もしもし",
      thanks: "ありがとうございました,ありがとうございます,ありがとう,どうも",
      bye: "さようなら,さよなら,失礼します,またね",
      who: "何ができますか,何ができるの,何を聞けますか,助けてください,助けて,どなたですか,あなたは誰ですか,ロボットですか",
      nod: "はい、お願いします,はい,いいえ、結構です,いいえ,わかりました,了解です,了解,大丈夫です,結構です",
    },
    hello: "こんにちは。",
    welcome: "どういたしまして。",
    bye: "さようなら。",
    unknown: "わかりません。登録された文章を検索して引用することしかできません。",
    ask: "ご質問をどうぞ。登録された文章を検索して引用します。",
    topics: "たとえば、次のことをお尋ねください:",
    noTopics: "別の言葉でお尋ねください。もう一度調べます。",
  },
  ko: {
    heard: {
      hello: "안녕하세요,안녕하십니까,안녕,여보세요",
      thanks: "정말 감사합니다,감사합니다,고맙습니다,고마워요,고마워",
      bye: "안녕히 계세요,안녕히 가세요,다음에 봐요,잘 있어요",
      who: "무엇을 할 수 있나요,뭘 할 수 있어요,무엇을 도와줄 수 있나요,도와주세요,도와줄 수 있나요,누구세요,누구십니까,로봇인가요",
      nod: "네 부탁합니다,네,예,아니요 괜찮습니다,아니요,아니오,알겠습니다,좋아요,괜찮아요,괜찮습니다",
    },
    hello: "안녕하세요!",
    welcome: "천만에요.",
    bye: "안녕히 가세요!",
    unknown: "잘 모르겠습니다. 저는 등록된 글을 찾아 인용만 합니다.",
    ask: "질문해 주세요. 등록된 글을 찾아 인용합니다.",
    topics: "예를 들어 다음을 물어보세요:",
    noTopics: "다른 말로 물어보시면 다시 찾아보겠습니다.",
  },
  zh: {
    heard: {
      hello: "你好,您好,大家好,早上好,下午好,晚上好,喂",
      thanks: "非常感谢,谢谢你,谢谢您,谢谢,感谢",
      bye: "再见,拜拜,回头见",
      who: "你能做什么,你会做什么,你可以做什么,可以问什么,能帮我吗,可以帮我吗,你是谁,您是谁,你是机器人吗,帮助,帮忙",
      nod: "是的,是,好的,好,不用了,不是,不,没事,可以,明白了,行",
    },
    hello: "您好！",
    welcome: "不客气。",
    bye: "再见！",
    unknown: "这个我不知道。我只能查找并引用已有的文字。",
    ask: "请向我提问，我会查找并引用已有的文字。",
    topics: "例如，您可以问我：",
    noTopics: "请换个说法再问，我会重新查找。",
  },
};
