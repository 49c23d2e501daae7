interface Named {
  readonly id: string;
  readonly name: string;
}

const MIN_PREFIX_LENGTH = 8;

/** The names of assistants, with as much of their ids as tells those of the same name apart. */
export function labelsOf(assistants: readonly Named[]): string[] {
  return assistants.map(({ id, name }) => {
    const namesakes = assistants.filter((other) => other.name === name && other.id !== id);
    if (namesakes.length === 0) return name;
    let length = MIN_PREFIX_LENGTH;
    while (length < id.length && namesakes.some((other) => other.id.startsWith(id.slice(0, length))))
      length++;
    return `${name} (${id.slice(0, length)}${length < id.length ? "…" : ""})`;
  });
}
