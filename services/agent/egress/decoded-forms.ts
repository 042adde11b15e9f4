/** Maximum nesting of encodings. */
const maxDepth = 3
/** Minimum length of a decoded form. Shorter texts cannot contain a word that counts as host text. */
const minFormLength = 4
/** Maximum characters of all decoded forms of one argument. */
const maxCharacters = 262_144

const percentRun = /(?:%[\da-f]{2})+/gi
const escapes = /\\u\{?[\da-f]{2,6}\}?|\\x[\da-f]{2}|&#x[\da-f]{1,6};|&#\d{1,7};/gi
/** The shortest word that counts as host text has four characters, which are six characters in base64. */
const base64Run = /[\w+/-]{6,}={0,2}/g
const hexRun = /[\da-f]{8,}/gi

/**
 * Returns a text and all its decoded forms. Decodes percent-encoding, character escapes, base64 and hexadecimal digits,
 * up to `maxDepth` levels. Returns undefined if the forms have too many characters to compare.
 */
export const listDecodedForms = (source: MappedText): MappedText[] | undefined => {
  let forms = [source]
  let level = [source]
  let characters = 0
  for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
    level = level.flatMap(decodeOnce)
    for (const { text } of level) characters += text.length
    if (characters > maxCharacters) return undefined
    forms = forms.concat(level)
  }
  return forms
}

const decodeOnce = (source: MappedText): MappedText[] =>
  [
    replaceMatches(source, percentRun, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString()),
    replaceMatches(source, escapes, decodeEscape),
    ...findRuns(source, base64Run).flatMap((run) => [0, 1, 2, 3].map((skipped) => decodeRun(run, skipped, 'base64'))),
    ...findRuns(source, hexRun).flatMap((run) => [0, 1].map((skipped) => decodeRun(run, skipped, 'hex'))),
  ].filter(({ text }) => text !== source.text && text.length >= minFormLength)

const decodeEscape = (escape: string): string => {
  const isDecimal = /^&#\d/.test(escape)
  const code = Number.parseInt(escape.replaceAll(/^\\[ux]\{?|^&#x?|[};]/gi, ''), isDecimal ? 10 : 16)
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
}

const findRuns = ({ text, starts, ends }: MappedText, pattern: RegExp): MappedText[] =>
  [...text.matchAll(pattern)].map(({ 0: run, index }) => ({
    text: run,
    starts: starts.slice(index, index + run.length),
    ends: ends.slice(index, index + run.length),
  }))

/**
 * Decodes a run of base64 or hexadecimal characters. Skips some characters first, because the encoding may start at any
 * offset. Invalid UTF-8 becomes characters that never match. Each decoded character maps to the whole run.
 */
const decodeRun = (
  { text: run, starts, ends }: MappedText,
  skipped: number,
  encoding: 'base64' | 'hex',
): MappedText => {
  const text = Buffer.from(run.slice(skipped), encoding).toString()
  const start = starts[0] ?? 0
  const end = ends.at(-1) ?? 0
  return { text, starts: Array(text.length).fill(start), ends: Array(text.length).fill(end) }
}

/** A text derived from a source, with the source range of each of its UTF-16 units. */
export interface MappedText {
  text: string
  starts: readonly number[]
  ends: readonly number[]
}

/** Returns a mapped text in which each UTF-16 unit maps to itself. */
export const toMappedText = (text: string): MappedText => ({
  text,
  starts: Array.from({ length: text.length }, (_, index) => index),
  ends: Array.from({ length: text.length }, (_, index) => index + 1),
})

/** Replaces each match of the pattern. Every UTF-16 unit of a replacement maps to the whole match. */
const replaceMatches = (source: MappedText, pattern: RegExp, replacement: (match: string) => string): MappedText => {
  const texts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  const keep = (from: number, to: number): void => {
    texts.push(source.text.slice(from, to))
    for (let at = from; at < to; at += 1) append(source.starts[at] ?? 0, source.ends[at] ?? 0, 1)
  }
  const append = (start: number, end: number, length: number): void => {
    for (let count = 0; count < length; count += 1) {
      starts.push(start)
      ends.push(end)
    }
  }
  let from = 0
  for (const { 0: match, index } of source.text.matchAll(pattern)) {
    keep(from, index)
    const text = replacement(match)
    texts.push(text)
    from = index + match.length
    append(source.starts[index] ?? 0, source.ends[from - 1] ?? 0, text.length)
  }
  keep(from, source.text.length)
  return { text: texts.join(''), starts, ends }
}

/**
 * Returns only the letters and digits, in lower case, without accents and in Unicode compatibility form (NFKD).
 * Punctuation and compatibility characters, such as full-width letters, therefore cannot hide host text.
 */
export const normalizeLetters = (source: MappedText): MappedText =>
  replaceMatches(source, /[^a-z0-9]/gu, (character) =>
    character
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, ''),
  )
