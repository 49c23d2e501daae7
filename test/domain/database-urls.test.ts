import { describe, expect, jest, test } from "@jest/globals";
import { explained } from "../../src/platform/database/connections/open-client";
import { describeTransport } from "../../src/platform/database/connections/transport";
import { readConfig } from "../../src/platform/settings/config";
import { databaseUrlProblem } from "../../src/platform/settings/database-url";
import { swapsOf } from "../support/swaps";

const ENCRYPTION_KEYS = "an encryption key that only tests use";
const BASE = "postgres://parley:a-secret@db.example.com:5432/parley";
const NAMES = ["DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_JOBS_URL"] as const;

/** The problem that the settings report for a URL under a name. */
function problemOf(name: string, url: string): string {
  try {
    readConfig({ ENCRYPTION_KEYS, DATABASE_URL: BASE, [name]: url });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(NAMES)("%s", (name) => {
  test("is refused with a misspelled parameter, and the message has the right name", () => {
    for (const parameter of ["sslmode", "sslrootcert", "options"])
      for (const wrong of [...swapsOf(parameter), parameter.slice(0, -1), `${parameter}s`])
        expect(problemOf(name, `${BASE}?${wrong}=verify-full`)).toContain(
          `${name} has the unknown parameter "${wrong}". Did you mean ${parameter}?`,
        );
  });

  test("is refused with a parameter that has no effect", () => {
    expect(problemOf(name, `${BASE}?sslmode=verify-full&target_session_attrs=any`)).toContain(
      `${name} has the parameter "target_session_attrs", which has no effect: remove it`,
    );
  });

  test.each(["sslmode=verify-ful", "sslmode=", "ssl=false", "sslnegotiation=fast"])(
    "is refused with the value %s, which the driver would take for another",
    (parameter) => {
      const [key, value] = parameter.split("=");
      expect(problemOf(name, `${BASE}?${parameter}`)).toMatch(
        new RegExp(`${name} must have one of .* as ${key}; got "${value}"`),
      );
    },
  );

  test.each(["p@ss#1/x", "s3cret#1", "s3cret/1", "1/s3cret", "s3cret?1", "1?s3cret", "s3@cret", "1#s3cret"])(
    "is refused with the unescaped password %s, which the message does not repeat",
    (password) => {
      const problem = problemOf(name, `postgres://parley:${password}@db.example.com/parley`);
      expect(problem).toContain(`${name} is not a valid URL: characters such as @ : / ? # `);
      expect(problem).not.toMatch(/p@ss|s3|cret|ss#|db\.example/);
    },
  );

  test.each([
    "parley:s3cret@db:65536",
    "parley:s3cret@db:0",
    "db:54a",
    "db:-1",
    "parley@[::1]:99999",
    "parley:s3cret", // the host name is missing, so the password is in the place of the port
  ])("is refused with the wrong port in %s, which the message does not repeat", (address) => {
    const problem = problemOf(name, `postgres://${address}/parley`);
    expect(problem).toContain(`${name} must have a whole number from 1 to 65535 as port, or none`);
    expect(problem).not.toContain("s3cret");
  });

  test.each(["db1,db2", "db1:5432,db2:5432", "[::1]:5432,db2"])(
    "is refused with the hosts %s, of which the driver would try none",
    (hosts) => {
      const problem = problemOf(name, `postgres://parley:a,b@${hosts}/parley`);
      expect(problem).toContain(`${name} names several hosts: name one address that follows the primary`);
    },
  );

  test.each([
    BASE,
    "postgres://parley:a,b@db/parley,2?application_name=a,b",
    `postgresql://db/parley?user=parley&password=x&sslmode=no-verify`,
    "postgres:///parley?host=/var/run/postgresql",
    "postgres://parley:p%40ss%231%2Fx@db/parley",
    `${BASE}?sslmode=verify-full&sslrootcert=/etc/parley/ca.pem&application_name=x`,
  ])("is accepted: %s", (url) => expect(problemOf(name, url)).toBe(""));
});

test.each(["http://db/parley", "db/parley", "postgres:db/parley"])("%s is not a URL of PostgreSQL", (url) =>
  expect(databaseUrlProblem(url)).toBe("must be a URL that begins with postgres:// or postgresql://"),
);

test.each([
  ["57P03", "the database system is shutting down"],
  ["57P01", "terminating connection due to administrator command"],
])("%s of a PostgreSQL that stops during a start names the database and what to do", (code, message) => {
  const { message: said } = explained(Object.assign(new Error(message), { code }), BASE) as Error;
  expect(said).toMatch(
    /^Cannot connect to the database postgres:\/\/parley@db\.example\.com.*: (the|terminating) .*try again in a moment\.$/,
  );
  expect(said).not.toContain("a-secret");
});

describe("the start output says whether connections are protected:", () => {
  const transport = (env: Record<string, string>) =>
    describeTransport(readConfig({ ENCRYPTION_KEYS, DATABASE_URL: BASE, ...env }));
  test.each([
    ["", "no TLS"],
    ["?sslmode=disable", "no TLS"],
    ["?sslmode=no-verify", "TLS, certificate not verified"],
    ["?ssl=no-verify", "TLS, certificate not verified"],
    ["?sslmode=require&uselibpqcompat=true", "TLS, certificate not verified"],
    ["?ssl=true", "TLS, certificate verified"],
    ["?sslmode=verify-full", "TLS, certificate verified"],
  ])("%s", (parameters, said) => {
    expect(transport({ DATABASE_URL: BASE + parameters })).toBe(said);
    for (const name of NAMES.slice(1)) {
      expect(transport({ DATABASE_URL: BASE + parameters, [name]: BASE + parameters })).toBe(said);
      const other = said === "no TLS" ? "?sslmode=verify-full" : "";
      expect(transport({ [name]: BASE + parameters, DATABASE_URL: BASE + other })).toMatch(
        new RegExp(`^DATABASE_URL: .*; ${name}: ${said}$`),
      );
    }
  });

  test("without a warning of the driver about modes that its next version will weaken", () => {
    const warn = jest.spyOn(process, "emitWarning").mockReturnValue();
    for (const mode of ["prefer", "require", "verify-ca"])
      expect(transport({ DATABASE_URL: `${BASE}?sslmode=${mode}` })).toBe("TLS, certificate verified");
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });

  test("not of the embedded database", () => expect(describeTransport(readConfig({}))).toBeUndefined());
});
