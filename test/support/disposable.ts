// Node gives its own global these symbols; jest's, in which playwright runs here, has none before Node 24.
for (const name of ["dispose", "asyncDispose"])
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });
