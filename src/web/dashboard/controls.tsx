import { CHANNEL_NAMES, CHANNELS } from "./data";
import { daysOf, PRESETS, type Choice, type Preset } from "./filters";
import { labelsOf } from "../widget/demo/labels";
import type { Channel, ReadStatistics } from "./operations.generated";
import { BROWSER_ZONE, chooseZone, ZONES } from "./zone";

interface ControlsProps {
  readonly choice: Choice;
  readonly assistants: ReadStatistics["everyone"]["assistants"];
  readonly choose: (choice: Choice) => void;
  readonly problem: string | undefined;
}

/** Filters by period, assistant and channel. */
export function Controls({ choice, assistants, choose, problem }: ControlsProps) {
  const period = (preset: string) =>
    choose({ ...choice, ...(preset === "custom" ? { preset } : daysOf(preset as Days)) });
  return (
    <form class="controls" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <Select name="Period" value={choice.preset} options={PERIODS} choose={period} />
      {choice.preset === "custom" && <DayFields choice={choice} choose={choose} problem={problem} />}
      <Select
        name="Assistant"
        value={choice.assistantId}
        options={[["", "All assistants"], ...assistantOptions(assistants, choice.assistantId)]}
        choose={(assistantId) => choose({ ...choice, assistantId })}
      />
      <Select
        name="Channel"
        value={choice.channel}
        options={[
          ["", "All channels"],
          ...CHANNELS.map((channel) => [channel, CHANNEL_NAMES[channel]] as const),
        ]}
        choose={(channel) => choose({ ...choice, channel: channel as Channel | "" })}
      />
      <Select
        name="Time zone"
        value={choice.timezone}
        options={ZONE_OPTIONS}
        choose={(timezone) => choose(inZone(choice, timezone))}
      />
    </form>
  );
}

/** Those with conversations in the period and the selected one, which may have none. */
function assistantOptions(assistants: ControlsProps["assistants"], selected: string): Options {
  const named = assistants.map(({ assistantId: id, name }) => ({ id, name }));
  const labels = labelsOf(named);
  const options = named.map(({ id }, index) => [id, labels[index]!] as const);
  if (selected === "" || named.some(({ id }) => id === selected)) return options;
  return [[selected, "Selected assistant"], ...options];
}

const ZONE_OPTIONS = ZONES.map((name) => [name, name === BROWSER_ZONE ? `${name} (browser)` : name] as const);

/** The same choice in another time zone, where today may be another day. */
function inZone(choice: Choice, timezone: string): Choice {
  chooseZone(timezone);
  return { ...choice, ...(choice.preset !== "custom" && daysOf(choice.preset)), timezone };
}

type Days = Exclude<Preset, "custom">;
type Options = readonly (readonly [value: string, name: string])[];
const PERIODS: Options = [...Object.entries(PRESETS), ["custom", "Choose days …"]];

interface SelectProps {
  readonly name: string;
  readonly value: string;
  readonly options: Options;
  readonly choose: (value: string) => void;
}

const Select = ({ name, value, options, choose }: SelectProps) => (
  <label>
    {name}
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map(([value, name]) => (
        <option key={value} value={value} dir="auto">
          {name}
        </option>
      ))}
    </select>
  </label>
);

const DayFields = ({ choice, choose, problem }: Omit<ControlsProps, "assistants">) => (
  <>
    {(["first", "last"] as const).map((which) => (
      <label key={which}>
        {which === "first" ? "From" : "To"}
        <input
          type="date"
          value={choice[which]}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : "days-problem"}
          onChange={({ currentTarget }) => choose({ ...choice, [which]: currentTarget.value })}
        />
      </label>
    ))}
    {problem !== undefined && (
      <p class="problem" id="days-problem" role="alert">
        {problem}
      </p>
    )}
  </>
);
