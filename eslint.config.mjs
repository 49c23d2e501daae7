import { defineConfig, globalIgnores } from "eslint/config";
import graphql from "@graphql-eslint/eslint-plugin";
import tseslint from "typescript-eslint";

const UNUSED = ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }];

/** Rules that hold everywhere, with and without types. */
const everywhere = {
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-var": "error",
  "prefer-const": "error",
  "no-debugger": "error",
  "no-unreachable": "error",
  "no-dupe-keys": "error",
  "no-duplicate-case": "error",
  "no-self-assign": "error",
  "no-unsafe-finally": "error",
  "valid-typeof": "error",
};

const RECOMMENDED = graphql.configs["flat/schema-recommended"].rules;
const [severity, { EnumValueDefinition: NAME_OF_VALUE, ...NAMES }] =
  RECOMMENDED["@graphql-eslint/naming-convention"];
/** Where the GraphQL schema departs from the recommended rules. */
const SCHEMA_EXCEPTIONS = {
  // The values of these enums are those of the documented REST interface: voices, directions and permissions.
  "@graphql-eslint/naming-convention": [
    severity,
    {
      ...NAMES,
      "EnumValueDefinition[parent.name.value!=/^(KeyPermission|SortOrder|Voice)$/]": NAME_OF_VALUE,
    },
  ],
  // Its one finding, WebCall.webCallUrl, is the name of a documented field.
  "@graphql-eslint/no-typename-prefix": "off",
  "@graphql-eslint/strict-id-in-types": [
    "error",
    {
      exceptions: {
        // Pages, sums, results of one request and contents of an event: a cache has nothing to find again.
        suffixes: ["Connection", "Edge", "Page", "Test", "Data"],
        types: [
          ...[
            "FactImport",
            "LogImport",
            "VersionImport",
            "VariableUse",
            "PageInfo",
            "PageMeta",
            "DocumentChange",
            "AssistantDraft",
            "Analytics",
            "AnswerTimes",
            "DeliveryDay",
            "UnansweredQuestion",
          ],
          ...[
            "AnalyticsAssistant",
            "AnalyticsBucket",
            "AnalyticsChannel",
            "AnalyticsDay",
            "AnalyticsEndReason",
          ],
          ...["AnalyticsFunction", "AnalyticsLengths", "AnalyticsSummary", "WebhookHealth", "ReplayResult"],
          // Parts of one record, which change with it.
          ...["AuditField", "AuditHead", "ConfigurationWarning", "DeliveryAttempt", "EndUserFact"],
          ...["EventMessage", "ListedTool", "PendingRetention", "ToolServer", "WorkflowProblem"],
          // Credentials and links, made anew for each request.
          ...["AnalyticsToken", "FileDownload", "IssuedToken", "WidgetSession"],
          // As a page shows it, without ids of the organization.
          "Widget",
        ],
      },
    },
  ],
};

export default defineConfig(
  globalIgnores(["dist/", ".data/", "coverage/", "src/web/client/generated/"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" }, rules: everywhere },

  // The service and its tests: with types.
  {
    files: ["schema/**/*.ts", "src/**/*.ts", "rest-compat/**/*.ts", "test/**/*.ts", "knexfile.ts"],
    ignores: [
      "src/web/client/**",
      "src/web/explorer/**",
      "src/web/widget/**",
      "src/web/dashboard/**",
      "src/web/documentation/**",
    ],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { project: "./test/tsconfig.json", tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { arguments: false } }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": UNUSED,
      // It takes casts away that say why they are there, and those that give `any` a type.
      "@typescript-eslint/no-unnecessary-type-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },

  // Files and functions that a reader holds in mind at once.
  {
    files: ["schema/**/*.ts", "src/**/*.{ts,tsx}", "rest-compat/**/*.ts"],
    rules: {
      "max-lines": ["error", { max: 250 }],
      "max-lines-per-function": ["error", { max: 40, IIFEs: true }],
    },
  },
  { files: ["src/**/*.generated.ts"], rules: { "max-lines": "off" } },
  // A migration is a list of statements, read once from top to bottom.
  { files: ["src/platform/database/migrations/*.ts"], rules: { "max-lines-per-function": "off" } },

  // In tests, answers of the service are untyped on purpose: what they hold is what is tested.
  {
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },
  { files: ["test/support/api.ts"], rules: { "@typescript-eslint/no-explicit-any": "off" } },

  // The browser's code is checked by its own tsconfig; here without types.
  {
    files: [
      "src/web/client/**/*.ts",
      "src/web/explorer/**/*.{ts,tsx}",
      "src/web/widget/**/*.{ts,tsx}",
      "src/web/dashboard/**/*.{ts,tsx}",
      "src/web/documentation/**/*.ts",
    ],
    extends: [tseslint.configs.recommended],
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": UNUSED,
    },
  },
  { files: ["**/*.{mjs,cjs}"], rules: { "no-unused-vars": UNUSED } },

  // The GraphQL schema, as clients see it.
  {
    files: ["schema/schema.graphql"],
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: "schema/schema.graphql" } },
    },
    plugins: { "@graphql-eslint": graphql },
    rules: {
      ...RECOMMENDED,
      ...SCHEMA_EXCEPTIONS,
    },
  },
);
