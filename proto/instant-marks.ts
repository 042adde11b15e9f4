const mark = /\{when:(\d{1,15})\}/g

/** Returns the mark of an instant in a stored text, in epoch milliseconds: `started {when:1767322800000}`. */
export const markInstant = (atMs: number): string => `{when:${Math.max(0, Math.round(atMs))}}`

/** Returns whether a text contains marks of instants. */
export const hasInstantMarks = (text: string): boolean => text.search(mark) !== -1

/** Replaces the marks of a text by ages, so that a stored text is right whenever it is shown. */
export const replaceInstantMarks = (text: string, format: (atMs: number) => string): string =>
  text.replaceAll(mark, (_mark, atMs: string) => format(Number(atMs)))
