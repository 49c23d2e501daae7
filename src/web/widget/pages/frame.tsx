import { render } from "preact";
import "@preact/signals";
import "./frame.css";
import { Application } from "../app/application";
import { App } from "../app/views/app";
import { speech, speechFor } from "../app/words";

const address = new URLSearchParams(location.search);
const given = (name: string) => address.get(name) ?? undefined;

speech.value = speechFor(address.get("locale"));
document.documentElement.lang = speech.value.locale;
document.documentElement.dir = speech.value.direction;

const app = new Application(
  {
    publicKey: given("publicKey") ?? "",
    assistantId: given("assistantId"),
    deploymentId: given("deploymentId"),
  },
  given("origin") ?? "",
);
render(<App app={app} />, document.body);
app.start();
