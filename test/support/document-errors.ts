/** Documents that graphql-js or graphql-armor refuse, each with the message that its author reads. */
export const PARSE_ERRORS: readonly (readonly [name: string, query: string, message: string | RegExp])[] = [
  ["ends early", "{ a", "Syntax Error: Expected Name, but the document ends."],
  ["is a comment", "# nothing", "Syntax Error: The document is empty, or ends too early."],
  ["has an unknown character", "{ a ? }", 'Syntax Error: Unexpected character: "?".'],
  ["has an open string", '{ a(b: "x) }', "Syntax Error: Unterminated string."],
  ["is SQL", "SELECT 1", 'Syntax Error: Unexpected Name "SELECT".'],
  [
    "has a number with leading zeros",
    "{ a(b: 01) }",
    /^Syntax Error: Invalid number, unexpected digit after 0/,
  ],
  ["has a broken escape", '{ a(b: "\\uZZ") }', /^Syntax Error: Invalid Unicode escape sequence/],
  ["has an empty selection", "{ }", 'Syntax Error: Expected Name, found "}".'],
  [
    "has too many tokens",
    `{ ${"id ".repeat(1_001)} }`,
    /^The document has more than 1000 tokens .*\. Split it/,
  ],
];

const nested = (levels: number, inner: string): string =>
  Array.from({ length: levels }).reduce<string>((text) => `chats { nodes { assistant { ${text} } } }`, inner);

/** At least one document for each validation rule. */
export const VALIDATION_ERRORS: readonly (readonly [query: string, message: string | RegExp])[] = [
  [
    "{ assistantz { id } }",
    'Cannot query field "assistantz" on type "Query". Did you mean "assistant", "assistants", or "assistantDiff"?',
  ],
  ["{ assistants { id } }", 'Cannot query field "id" on type "AssistantPage". Did you mean "data { id }"?'],
  [
    "{ assistants { voice { prompt } } }",
    'Cannot query field "voice" on type "AssistantPage". Did you mean "data { voice { ... } }"?',
  ],
  [
    "{ logs { label } }",
    'Cannot query field "label" on type "LogEntryConnection". Did you mean "nodes { label }"?',
  ],
  ["{ logs { nowhere } }", 'Cannot query field "nowhere" on type "LogEntryConnection".'],
  ["{ assistants(tak: 1) { data { id } } }", /^Unknown argument "tak" .* Did you mean "take"\?$/],
  ["{ organization @foo { id } }", 'Unknown directive "@foo".'],
  ["{ organization { ... @defer { id } } }", 'Unknown directive "@defer".'],
  ["query @skip(if: true) { organization { id } }", 'Directive "@skip" may not be used on QUERY.'],
  ["{ organization { ...F } }", 'Unknown fragment "F".'],
  ["{ ... on Foo { id } }", /^Unknown type "Foo"\./],
  [
    "{ organization { id } } { organization { id } }",
    "This anonymous operation must be the only defined operation.",
  ],
  [
    "{ organization { ...F } } fragment F on Organization { ...F }",
    'Cannot spread fragment "F" within itself.',
  ],
  ["{ assistant(id: $x) { id } }", 'Variable "$x" is not defined.'],
  ["{ organization { id } } fragment F on Organization { id }", 'Fragment "F" is never used.'],
  ["query ($a: Int) { organization { id } }", 'Variable "$a" is never used.'],
  ["{ organization { a: id a: name } }", /^Fields "a" conflict .* Use different aliases/],
  ["{ organization { ... on Assistant { id } } }", /^Fragment cannot be spread here/],
  [
    "{ assistant { id } }",
    'Field "assistant" argument "id" of type "ID!" is required, but it was not provided.',
  ],
  ["{ organization { id { a } } }", /^Field "id" must not have a selection/],
  ["{ organization }", /must have a selection of subfields\. Did you mean "organization \{ \.\.\. \}"\?$/],
  [
    "subscription { a: organizationEvents { id } b: organizationEvents { id } }",
    /must select only one top level field\.$/,
  ],
  ['{ assistant(id: "a", id: "b") { id } }', 'There can be only one argument named "id".'],
  [
    "{ organization @skip(if: true) @skip(if: false) { id } }",
    'The directive "@skip" can only be used once at this location.',
  ],
  [
    "{ organization { ...F } } fragment F on Organization { id } fragment F on Organization { id }",
    'There can be only one fragment named "F".',
  ],
  [
    'mutation { createAssistant(input: { name: "a", name: "b" }) { id } }',
    'There can be only one input field named "name".',
  ],
  [
    "query A { organization { id } } query A { organization { id } }",
    'There can be only one operation named "A".',
  ],
  [
    "query ($a: Int, $a: Int) { assistants(take: $a) { data { id } } }",
    'There can be only one variable named "$a".',
  ],
  ['{ assistants(take: "x") { data { id } } }', 'Int cannot represent non-integer value: "x"'],
  ["{ assistants(order: UP) { data { id } } }", /^Value "UP" does not exist in "SortOrder" enum\./],
  ["query ($a: Assistant) { organization { id } }", 'Variable "$a" cannot be non-input type "Assistant".'],
  [
    "query ($a: String) { assistants(take: $a) { data { id } } }",
    'Variable "$a" of type "String" used in position expecting type "Int".',
  ],
  ["{ organization { ... on String { id } } }", 'Fragment cannot condition on non composite type "String".'],
  ["type A { a: Int }", 'The "A" definition is not executable.'],
  [
    `{ assistants { data { ${nested(4, "id")} } } }`,
    /^The document is 15 levels deep; at most 12 are allowed\. Split it/,
  ],
  [
    `{ ${Array.from({ length: 16 }, (_, n) => `a${n}: organization { id }`).join(" ")} }`,
    /^The document has 16 aliases; at most 15 are allowed\. Split it/,
  ],
  [
    `{ organization { ${"id @skip(if: false) ".repeat(51)} } }`,
    /^The document has 51 directives; at most 50 are allowed\. Split it/,
  ],
  [
    `{ __schema { types { ${"fields { type { ".repeat(4)} name ${"} } ".repeat(4)} } } }`,
    /^The introspection query nests lists .* too deeply\.$/,
  ],
];
