/** A number with its noun, such as "1 file" or "2 files". @param nouns the plural, if it is not formed with -s */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : nouns}`;
