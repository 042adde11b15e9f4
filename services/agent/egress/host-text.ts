import { listDecodedForms, normalizeLetters, type MappedText, toMappedText } from './decoded-forms.ts'

/** A range of a text in UTF-16 units; the end is exclusive. */
export interface TextSpan {
  start: number
  end: number
}

/** The text of hosts that tools have read in a conversation. */
export interface HostText {
  /** Adds a result; `server` names the external server that it came from. */
  add(result: unknown, server?: string): void
  /** Returns whether text was read from a host or another external server. Also true after results were dropped. */
  isIn(server: string): boolean
  /**
   * Returns the ranges of host text in each of the texts that would be sent to a server. In a URL on one of the
   * `allowedHosts`, the name of that host does not count.
   */
  find(texts: readonly string[], server: string, allowedHosts?: readonly string[]): TextSpan[][]
}

/** Minimum length of a shared sequence that counts as host text. Unrelated texts rarely share as many characters. */
const minRunLength = 8
/** Minimum length of a value that counts as host text if it occurs as a whole word. */
const minWordLength = 4
/** Maximum characters of retained results; the oldest are dropped first. */
const maxCharacters = 4_000_000

interface Result {
  server: string | undefined
  letters: string
  words: readonly string[]
}

export const openHostText = (): HostText => {
  const results: Result[] = []
  let characters = 0
  let isCut = false
  const others = (server: string): Result[] => results.filter((each) => each.server !== server)
  return {
    add(value, server) {
      const leaves = collectLeaves(value, server === undefined ? 'result' : 'cell').map(normalizeText)
      const letters = leaves.join('')
      results.push({ server, letters, words: leaves.filter(isWord) })
      characters += letters.length
      while (characters > maxCharacters && results.length > 1) {
        characters -= results.shift()?.letters.length ?? 0
        isCut = true
      }
    },
    isIn: (server) => isCut || others(server).length > 0,
    find: (texts, server, allowedHosts = []) =>
      findHostTextSpans(
        texts.map((text) => blankAllowedHost(text, allowedHosts)),
        others(server),
      ),
  }
}

/**
 * Returns every string and number in a value. Omits the names of result fields and columns. Includes names within a
 * cell, such as the keys of a map, because they are data.
 */
const collectLeaves = (value: unknown, place: 'result' | 'row' | 'cell'): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each) => collectLeaves(each, place === 'result' ? 'row' : 'cell'))
  return Object.entries(value).flatMap(([name, each]) => [
    ...(place === 'cell' ? [name] : []),
    ...collectLeaves(each, place === 'result' ? 'result' : 'cell'),
  ])
}

/** Replaces the allowed host of a URL with spaces. Subdomain labels before it remain. */
const blankAllowedHost = (text: string, allowedHosts: readonly string[]): string => {
  const [origin = '', host = ''] = /^https?:\/\/([^/?#:]+)/i.exec(text) ?? []
  const { length } = allowedHosts.find((each) => `.${host.toLowerCase()}`.endsWith(`.${each}`)) ?? ''
  return origin.slice(0, origin.length - length) + ' '.repeat(length) + text.slice(origin.length)
}

const normalizeText = (text: string): string => normalizeLetters(toMappedText(text)).text
const isWord = ({ length }: string): boolean => length >= minWordLength && length < minRunLength

const findHostTextSpans = (texts: readonly string[], results: readonly Result[]): TextSpan[][] => {
  const forms = texts.map((text) => listDecodedForms(toMappedText(text)))
  const joined = normalizeText(texts.join(''))
  const known = forms.flatMap((each) => each ?? [])
  const wanted = new Set([...known.flatMap((form) => listRuns(normalizeLetters(form).text)), ...listRuns(joined)])
  const runs = new Set(results.flatMap(({ letters }) => findWantedRuns(letters, wanted)))
  const words = new Set(results.flatMap((result) => result.words))
  const whole = ({ length }: string): TextSpan[] => [{ start: 0, end: length }]
  const found = texts.map((text, index) => {
    const spans = forms[index]?.flatMap((form) => [...findRunSpans(form, runs), ...findWordSpans(form, words)])
    // A text with too many decoded forms to compare counts as host text.
    return spans === undefined ? whole(text) : mergeSpans(spans)
  })
  // Host text that is split over several arguments is found only in their concatenation.
  const isSpread = found.every((spans) => spans.length === 0) && listRuns(joined).some((run) => runs.has(run))
  return isSpread ? texts.map(whole) : found
}

const listRuns = (letters: string): string[] =>
  Array.from({ length: Math.max(0, letters.length - minRunLength + 1) }, (_, at) =>
    letters.slice(at, at + minRunLength),
  )

/** Returns the runs of a text that are in `wanted`. It does not store all runs, because the text can be long. */
const findWantedRuns = (letters: string, wanted: ReadonlySet<string>): string[] => {
  const found = new Set<string>()
  for (let at = 0; at + minRunLength <= letters.length; at += 1) {
    const run = letters.slice(at, at + minRunLength)
    if (wanted.has(run)) found.add(run)
  }
  return [...found]
}

const findRunSpans = (form: MappedText, runs: ReadonlySet<string>): TextSpan[] => {
  const { text, starts, ends } = normalizeLetters(form)
  return listRuns(text).flatMap((run, at) =>
    runs.has(run) ? [{ start: starts[at] ?? 0, end: ends[at + minRunLength - 1] ?? 0 }] : [],
  )
}

const findWordSpans = ({ text, starts, ends }: MappedText, words: ReadonlySet<string>): TextSpan[] =>
  [...text.matchAll(/[\p{L}\p{N}]{4,}/gu)].flatMap(({ 0: word, index }) =>
    words.has(normalizeText(word)) ? [{ start: starts[index] ?? 0, end: ends[index + word.length - 1] ?? 0 }] : [],
  )

/** Sorts the spans and merges those that overlap or touch. */
const mergeSpans = (spans: readonly TextSpan[]): TextSpan[] => {
  const result: TextSpan[] = []
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    const last = result.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else result.push({ start, end })
  }
  return result
}
