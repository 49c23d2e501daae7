import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { DCLinter } from "dclint";
import { validate } from "dockerfile-utils";
import { parse } from "yaml";
import { checkByTool, hasChecker } from "../support/snippet-checkers";

const DEPLOY = join(__dirname, "../../deploy");
const text = (name: string) => readFileSync(join(DEPLOY, name), "utf8");
const folder = mkdtempSync(join(tmpdir(), "parley-linters-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text with a mistake. @throws Error if it no longer contains what the mistake replaces */
function mistaken(original: string, right: string, wrong: string): string {
  if (!original.includes(right)) throw new Error(`Nothing to replace: ${right}`);
  return original.replace(right, wrong);
}

describe("the Containerfile", () => {
  const file = text("container/Containerfile");
  const problemsOf = (source: string) => validate(source).map(({ message }) => message);

  test("has no problem for dockerfile-utils", () => {
    expect(problemsOf(file)).toEqual([]);
  });

  test.each([
    ["STOPSIGNAL SIGTERM", "STOPSIGNALS SIGTERM", "Unknown instruction: STOPSIGNALS"],
    ["FROM ${NODE_IMAGE}", "FROM ${NODE_IMAGES}", "base name (${NODE_IMAGES}) should not be blank"],
    ["--interval=10s", "--every=10s", "Unknown flag: every"],
    ["--interval=10s", "--interval=10", "time: missing unit in duration 10"],
    ["COPY --from=build /app /app", "COPY --from=build /app", "COPY requires at least two arguments"],
  ])("would have one with %j as %j", (right, wrong, problem) => {
    expect(problemsOf(mistaken(file, right, wrong))).toEqual([problem]);
  });
});

/** Settings of the rules of dclint; all others are on, beside the schema of the Compose Specification. */
const RULES = {
  // Servers come first, then what they need.
  "service-keys-order": 0,
  "services-alphabetical-order": 0,
  "top-level-properties-order": 0,
  // The proxy is there to be reached from everywhere; a test below finds other services with ports.
  "no-unbound-port-interfaces": 0,
  "require-quotes-in-ports": [2, { quoteType: "double" }],
} as const;

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: object;
  readonly volumes: object;
}

interface Service {
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: object;
  readonly ports?: readonly string[];
}

/** Names that a service uses and the file does not define, and files beside it that do not exist: dclint reads neither. */
function undefinedNames({ services, networks, volumes }: Compose): string[] {
  const isVolume = (source: string) =>
    source.startsWith(".") ? existsSync(join(DEPLOY, source)) : source in volumes;
  return Object.values(services).flatMap((service) => [
    ...(service.networks ?? []).filter((name) => !(name in networks)),
    ...(service.volumes ?? []).map((volume) => volume.split(":")[0]!).filter((source) => !isVolume(source)),
    ...Object.keys(service.depends_on ?? {}).filter((name) => !(name in services)),
  ]);
}

describe("the Compose file", () => {
  const file = text("compose.yaml");
  const linter = new DCLinter({ rules: { ...RULES }, quiet: false, debug: false, exclude: [] });

  function problemsOf(source: string): string[] {
    const path = join(folder, "compose.yaml");
    writeFileSync(path, source);
    const [{ messages }] = linter.lintFiles([path], false) as [{ messages: readonly { rule: string }[] }];
    const read = parse(source, { merge: true }) as Compose;
    return [...messages.map(({ rule }) => rule), ...undefinedNames(read)];
  }

  test("has no problem for dclint, and defines all names that it uses", () => {
    expect(problemsOf(file)).toEqual([]);
  });

  test("opens ports of the proxy only", () => {
    const { services } = parse(file, { merge: true }) as Compose;
    expect(Object.keys(services).filter((name) => services[name]!.ports)).toEqual(["proxy"]);
  });

  test.each([
    ["  read_only: true", "  readonly: true", "invalid-schema"],
    ["condition: service_healthy", "condition: healthy", "invalid-schema"],
    ["library/postgres:18.6", "library/postgres", "service-image-require-explicit-tag"],
    ['- "443:443"', '- "80:443"', "no-duplicate-exported-ports"],
    ["- database:/var", "- databases:/var", "databases"],
    ["./Caddyfile:", "./Caddyfiles:", "./Caddyfiles"],
    ["  back:\n", "  rear:\n", "back"],
    ["  postgres:\n    image", "  postgresql:\n    image", "postgres"],
  ])("would have one with %j as %j", (right, wrong, problem) => {
    expect(problemsOf(mistaken(file, right, wrong))).toContain(problem);
  });
});

describe("the Caddyfile", () => {
  if (!hasChecker("caddyfile")) return test.todo("passes caddy, which is not installed");
  const file = text("Caddyfile").replace("{$DOMAIN}", "parley.example.com"); // which Compose sets

  test("passes caddy", () => checkByTool("caddyfile", file, folder));

  test("would not with an option that does not exist", async () => {
    const wrong = mistaken(file, "health_uri", "health_url");
    await expect(checkByTool("caddyfile", wrong, folder)).rejects.toThrow("health_url");
  });
});
