import { render } from "preact";
import "@preact/signals";
import "./frame.css";
import { Application } from "../app/application";
import { App } from "../app/views/app";
import { speech, speechFor } from "../app/words";

const parameters = new URLSearchParams(location.search);
const parameter = (name: string) => parameters.get(name) ?? undefined;

speech.value = speechFor(parameters.get("locale"));
document.documentElement.lang = speech.value.locale;
document.documentElement.dir = speech.value.direction;

const app = new Application(
  {
    publicKey: parameter("publicKey") ?? "",
    assistantId: parameter("assistantId"),
    deploymentId: parameter("deploymentId"),
  },
  parameter("origin") ?? "",
);
render(<App app={app} />, document.body);
app.start();
