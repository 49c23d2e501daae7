/** The variants of a name with two different neighboring characters swapped. */
export const swapsOf = (name: string): string[] =>
  [...name].flatMap((first, index) => {
    const second = name[index + 1];
    return second === undefined || second === first
      ? []
      : [name.slice(0, index) + second + first + name.slice(index + 2)];
  });
