// Taken from the prototype, since V8 looks methods of strings up at every call once any module extends `String`, as ioredis does.
const { charCodeAt, slice, toLowerCase } = String.prototype

/** The code of a character of a text. */
export const codeAt = (text: string, position: number): number => charCodeAt.call(text, position)
/** The part of a text between two positions. */
export const cut = (text: string, start: number, end: number): string => slice.call(text, start, end)
/** A text in lower case. */
export const inLowerCase = (text: string): string => toLowerCase.call(text)
