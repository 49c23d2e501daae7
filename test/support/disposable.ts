// Node defines these symbols in its own realm; jest's realm, in which playwright runs, lacks them before Node 24.
for (const name of ["dispose", "asyncDispose"])
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });
