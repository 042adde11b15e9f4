import { findUnit, type Unit } from './units.ts'
import type { NumberCell } from './result-cells.ts'
import { splitIntoWords } from './words.ts'

const unitWords: readonly (readonly [RegExp, Unit])[] = [
  [/^(?:byte|size|memory|ram|space)$/, { kind: 'bytes', scale: 1 }],
  [/^(?:percent|percentage|pct)$/, { kind: 'percent', scale: 1 }],
]

/** ClickHouse states durations without a unit in seconds, but the latencies of Keeper in milliseconds. */
const durationWords: readonly (readonly [RegExp, Unit])[] = [
  [/^latency$/, { kind: 'seconds', scale: 1e-3 }],
  [/^(?:uptime|elapsed|delay|duration|lag|age|timeout)$/, { kind: 'seconds', scale: 1 }],
]

/** Finds the unit that the last words of a name state: `bytes_on_disk`, `sizeGiB`, `query_duration_ms`, `share_percent`. */
export const findColumnUnit = (name: string): Unit | null => {
  // `growth_bytes_per_day` is in bytes.
  const words = splitIntoWords(name).filter((word, index, all) => word !== 'per' && all[index - 1] !== 'per')
  const joined = words.join('')
  const suffix =
    /(ki|mi|gi|ti)b$/.exec(joined)?.[0] ??
    words.findLast((word) => /^(?:[kmgtp]i?b|[nuµm]s|s|sec|second|minute|hour|day|millisecond|microsecond)$/.test(word))
  const written = suffix === undefined ? undefined : findUnit(suffix)
  // The size of a queue or of a pool is a count.
  if (written === undefined && words.some((word) => /^(?:queue|pool|batch|block)$/.test(word))) return null
  const find = (list: typeof unitWords) => list.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1]
  // `lag_messages` counts messages.
  return written ?? find(unitWords) ?? (isPluralName(name) ? null : find(durationWords)) ?? null
}

/** Finds the unit of a metric or a setting, such as `max_execution_time`. Names of errors, in capitals, have none. */
export const findSettingUnit = (name: string): Unit | null => {
  if (name === name.toUpperCase()) return null
  return findColumnUnit(name) ?? (splitIntoWords(name).at(-1) === 'time' ? { kind: 'seconds', scale: 1 } : null)
}

/** Functions that do not change the unit of their argument. */
const sameUnit = /^(?:sum|avg|min|max|any|anyLast|median|quantile\w*|round|floor|ceil|to(?:U?Int|Float)\d+)$/
const maxExpressionLength = 256

/** Finds the unit of a column that a statement names itself, as in `avg(query_duration_ms) AS mean`. */
export const findRequestedUnit = (request: string, name: string): Unit | null => {
  const end = /^\w+$/.test(name) ? request.search(new RegExp(`\\sAS\\s+[\`"]?${name}\\b`, 'i')) : -1
  if (end === -1) return null
  const before = request.slice(Math.max(0, end - maxExpressionLength), end)
  const expression = before.slice(findExpression(before)).trim()
  const difference = /^(?:max\(|avg\(|min\()?dateDiff\(\s*'(\w+)'/i.exec(expression)?.[1]
  if (difference !== undefined) return findUnit(difference.toLowerCase()) ?? null
  const column = /^([\w().,\s]*?)(\w+)[\s)]*(?:,\s*\d+\s*\))*$/.exec(expression)
  const functions = column?.[1]?.match(/[a-z]\w*(?=\()/gi) ?? []
  if (column === null || !functions.every((each) => sameUnit.test(each))) return null
  return findColumnUnit(column[2] ?? '')
}

/** Returns where the last expression of a list of columns starts. */
const findExpression = (text: string): number => {
  let depth = 0
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const character = text.charAt(at)
    depth += Number(character === ')') - Number(character === '(')
    if (depth < 0 || (depth === 0 && character === ',')) return at + 1
    if (depth === 0 && /^select\s/i.test(text.slice(at, at + 7))) return at + 7
  }
  return 0
}

const minEpoch = 1e8

/** Finds the unit that all values state, as in `1.52 TiB`. Fractions from 0 to 1 are shares. */
export const findValueUnit = (values: readonly NumberCell[], lastWord = ''): Unit | null => {
  const [first] = values
  if (first?.unit && values.every(({ unit }) => unit?.kind === first.unit?.kind)) return first.unit
  if (values.length > 0 && lastWord === 'time' && values.every(({ value }) => value < minEpoch))
    return { kind: 'seconds', scale: 1 }
  const areShares = values.every(({ value, unit }) => unit === null && value >= 0 && value <= 1)
  return areShares && values.some(({ value }) => !Number.isInteger(value)) ? { kind: 'percent', scale: 100 } : null
}

/** Returns whether a name is that of a count: a plural such as `parts`, or a number such as `element_count`. */
export const isPluralName = (name: string): boolean =>
  /^num(?:ber)?_/i.test(name) ||
  (name.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ').match(/\p{L}+/gu) ?? []).some(
    (word) => (word.length > 3 && /[^su]s$/i.test(word)) || /^(?:count|cnt)$/i.test(word),
  )
