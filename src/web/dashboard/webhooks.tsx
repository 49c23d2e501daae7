import { useMemo } from "preact/hooks";
import { Card } from "./card";
import { Chart, type Drawing } from "./chart";
import { day, milliseconds, number, time } from "./format";
import type { Statistics } from "./operations.generated";
import type { Sheet } from "./sheet";

export function Webhooks({
  webhooks,
  failingDestinations,
}: Pick<Statistics, "webhooks" | "failingDestinations">) {
  const { days } = webhooks;
  const drawing = useMemo<Drawing>(
    () => ({
      type: "bar",
      labels: days.map(({ date }) => day(date)),
      series: [
        { label: "Delivered", colour: "good", values: days.map(({ delivered }) => delivered) },
        { label: "Waiting", colour: "wait", values: days.map(({ pending }) => pending) },
        { label: "Failed", colour: "bad", values: days.map(({ failed }) => failed) },
      ],
    }),
    [days],
  );
  const scope = "Of all assistants and channels";
  const note =
    webhooks.deliveries === 0
      ? scope
      : `${number(webhooks.deliveries)} made, ${number(webhooks.retried)} tried more than once, median ${milliseconds(webhooks.medianMs)}. ${scope}`;
  return (
    <Card
      wide
      sheet={sheetOf(webhooks)}
      note={note}
      isEmpty={webhooks.deliveries === 0 && failingDestinations.length === 0}
      empty="No event was sent in this period. Create webhook destinations with POST /rest/v1/settings."
    >
      <Failing destinations={failingDestinations} />
      <Chart drawing={drawing} label="Webhook deliveries by day" height={180} />
    </Card>
  );
}

const sheetOf = ({ days }: Statistics["webhooks"]): Sheet => ({
  name: "Webhook deliveries",
  columns: ["Day", "Delivered", "Waiting", "Failed", "Retried", "Median, ms"],
  rows: days.map(({ date, delivered, pending, failed, retried, medianMs }) => [
    date,
    delivered,
    pending,
    failed,
    retried,
    medianMs && Math.round(medianMs),
  ]),
});

const Failing = ({ destinations }: { destinations: Statistics["failingDestinations"] }) => (
  <ul class="failing">
    {destinations.map(({ id, name, host, enabled, failingSince, failures }) => (
      <li key={id}>
        <span class="badge bad">{enabled ? "Failing" : "Disabled"}</span>
        <strong>{name ?? host}</strong>
        <span>
          {name !== null && `${host} · `}
          {number(failures)} failed {failures === 1 ? "try" : "tries"}
          {failingSince !== null && ` since ${time(failingSince)}`}
        </span>
      </li>
    ))}
  </ul>
);
