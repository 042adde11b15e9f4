import type { ClaimSources } from './claim-sources.ts'
import { isNumeric } from './bound-columns.ts'
import { findMoments, isSameMoment, type Moment } from './moments.ts'
import type { ResultTable } from './result-cells.ts'
import { findLabelledNumbers, findName, selectRowsBeside, statedVersion, toName, versionName } from './row-names.ts'

/**
 * Returns the dates, times, versions, ids and names of a claim that contradict the results: the results have others of
 * the same kind, but neither they nor the request or the question have these.
 */
export const findUnknownIdentifiers = (sources: ClaimSources, question: string): string[] => {
  const { claim } = sources.context
  const requests = [question, ...sources.results.map(({ request }) => request)].join('\n')
  const tables = sources.results.flatMap((result) => result.tables)
  const texts = tables.flatMap(({ columns }) => columns.flatMap((column) => column.texts))
  const isKnown = (name: string) => findName(requests, name) !== -1
  return [
    ...findUnknownMoments(claim, tables, requests),
    ...findUnknownVersions(claim, tables).filter((name) => !isKnown(name)),
    ...findUnknownNames(claim, texts).filter((name) => !isKnown(name)),
    ...findUnknownNumbers(claim, tables, requests),
    ...findUnknownDays(claim, requests),
  ]
}

/** Returns `yesterday` if the statement reads today, and the reverse. */
const findUnknownDays = (claim: string, requests: string): string[] => {
  const isToday = /\b(?:today\(\)(?!\s*-)|today\b(?!\())/i.test(requests)
  const isYesterday = /\b(?:yesterday|today\(\)\s*-\s*1)\b/i.test(requests)
  const unknown = isToday && !isYesterday ? /\byesterday\b/i : /\btoday\b/i
  return isToday === isYesterday ? [] : (claim.match(unknown) ?? [])
}

/** Words before a moment that is near an event, and not its own time. */
const nearWords = /\b(?:before|after|by|until|around|about|near|as of)\s(?:the\s)?$/i

const findUnknownMoments = (claim: string, tables: readonly ResultTable[], requests: string): string[] => {
  const others = findMoments(requests)
  const all = findMoments(claim)
  return all
    .filter((stated, place) => {
      const before = claim.slice(0, stated.start)
      if (nearWords.test(before) || others.some((other) => isSameMoment(other, stated))) return false
      const from = all[place - 1]?.end ?? 0
      const cells = tables.flatMap((table) =>
        table.columns.flatMap((column, index) => {
          if (column.moments.size === 0) return []
          const rows = selectRowsBeside(table, index, { claim, from, start: stated.start })
          const moments = rows.flatMap((row) => column.moments.get(row[index]?.text ?? '') ?? [])
          return [...moments, ...(/(?:\b(?:to|until|and)|[-–])\s?$/i.test(before) ? findEnd(moments) : [])]
        }),
      )
      // A result with dates alone does not contradict a time.
      // A statement about one day has no rows of other days.
      const known = cells.length > 0 ? cells : others
      const comparable = known.filter((cell) => (stated.minute === null ? cell.day : cell.minute) !== null)
      return comparable.length > 0 && !cells.some((cell) => isSameMoment(cell, stated))
    })
    .map(({ text }) => text)
}

/** Returns the end of the last interval of a series. */
const findEnd = (moments: readonly Moment[]): Moment[] => {
  const minutes = moments.flatMap(({ minute }) => minute ?? []).toSorted((one, other) => one - other)
  const [last, before] = [minutes.at(-1), minutes.findLast((minute) => minute !== minutes.at(-1))]
  const moment = moments.find(({ minute }) => minute === last)
  return moment === undefined || last === undefined || before === undefined
    ? []
    : [{ ...moment, minute: (last + last - before) % minutesPerDay, second: null }]
}

const minutesPerDay = 1440
const namedVersion = /\b(?:versions?|clickhouse|release)\s+v?(\d+(?:\.\d+)+)/gi

const findUnknownVersions = (claim: string, tables: readonly ResultTable[]): string[] => {
  const all = [...claim.matchAll(statedVersion), ...claim.matchAll(namedVersion)].map((match) => ({
    name: match[1] ?? match[0],
    start: match.index,
    isNamed: match[1] !== undefined,
  }))
  const readVersions = (rows: ResultTable['rows'], index: number) =>
    rows.flatMap((row) => /^v?(\d+\.\d+\.\d+(?:\.\d+)*)/.exec(row[index]?.text ?? '')?.[1] ?? [])
  const isPartOf = (name: string) => (own: string) => `${own}.`.startsWith(`${name}.`)
  return all.flatMap(({ name, start, isNamed }, place) => {
    const from = all[place - 1]?.start ?? 0
    const columns = tables.flatMap((table) =>
      table.columns.flatMap(({ texts }, index) =>
        texts.some((text) => versionName.test(text)) ? [{ table, index }] : [],
      ),
    )
    const known = columns.flatMap(({ table, index }) =>
      readVersions(selectRowsBeside(table, index, { claim, from, start }), index),
    )
    const anywhere = columns.flatMap(({ table, index }) => readVersions(table.rows, index))
    // A number such as 25.8 is a version only if the results have such a version.
    const isVersion = name.split('.').length > 2 || anywhere.some(isPartOf(name)) || isNamed
    return known.length === 0 || !isVersion || known.some(isPartOf(name)) ? [] : [name]
  })
}

const identifier = /(?<![\w./-])(?=[\w-]*[\d_])[a-z][\w-]*\w|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi

/** Returns the names that have the form of names in the results, such as `host-4` if these have `host-1` to `host-3`. */
const findUnknownNames = (claim: string, texts: readonly string[]): string[] => {
  const shapes = new Set(texts.filter((text) => text.length <= maxNameLength).map(toShape))
  return (claim.match(identifier) ?? []).filter(
    (name) =>
      /\d|_/.test(name) &&
      !/^p\d+$/i.test(name) &&
      shapes.has(toShape(name)) &&
      !texts.some((text) => findName(text, name) !== -1),
  )
}

const maxNameLength = 64
const toShape = (name: string): string =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name)
    ? 'uuid'
    : name.replaceAll(/\p{L}+/gu, 'a').replaceAll(/\d+/g, '0')

/** Returns the numbers after a label, such as `shard 4`, that the column with this label does not have. */
const findUnknownNumbers = (claim: string, tables: readonly ResultTable[], requests: string): string[] =>
  tables.flatMap((table) =>
    table.columns.flatMap((column, index) => {
      if (!isNumeric(table, index)) return []
      const stated = findLabelledNumbers(column, claim)
      return stated.flatMap(({ text, start }, place) => {
        const rows = selectRowsBeside(table, index, { claim, from: stated[place - 1]?.start ?? 0, start })
        const texts = rows.flatMap((row) => row.flatMap((cell) => cell.text ?? []))
        const isKnown = rows.some((row) => row[index] && toName(row[index]) === text)
        // In `session 7 is blocked by session 3`, the second number is in another column of the row of the first one.
        const before = new Set(stated.slice(0, place).map((other) => other.text))
        const ofBefore = rows.filter((row) => row[index] && before.has(toName(row[index])))
        const isBeside = ofBefore.some((row) => row.some((cell) => toName(cell) === text))
        return isKnown || isBeside || findName([requests, ...texts].join('\n'), text) !== -1 ? [] : [text]
      })
    }),
  )
