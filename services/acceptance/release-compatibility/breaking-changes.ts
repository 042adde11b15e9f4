import { isDeepStrictEqual } from 'node:util'

/**
 * Returns the contract changes that make two releases incompatible. Optional fields, methods, enumeration values,
 * alternatives and callers may be added, and bounds may be relaxed. Any other difference is a breaking change.
 */
export const findBreakingChanges = (before: unknown, now: unknown, where: readonly string[] = []): string[] => {
  if (isRecord(before) && isRecord(now)) return compareRecords(before, now, where)
  if (Array.isArray(before) && Array.isArray(now)) return compareLists(before, now, where)
  const isAllowed = isDeepStrictEqual(before, now) || isRelaxed(before, now, where.at(-1))
  return isAllowed ? [] : [sentence(where, `was ${shown(before)} and is ${shown(now)}`)]
}

const upperBounds = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'])
const lowerBounds = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems'])

/** Returns whether a bound allows all previous values and more, as a longer enumeration does. */
const isRelaxed = (before: unknown, now: unknown, keyword = ''): boolean => {
  if (typeof before !== 'number' || typeof now !== 'number') return false
  return (upperBounds.has(keyword) && now > before) || (lowerBounds.has(keyword) && now < before)
}

type JsonRecord = Readonly<Record<string, unknown>>

const compareRecords = (before: JsonRecord, now: JsonRecord, where: readonly string[]): string[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.flatMap((name) => {
    const at = [...where, name]
    if (Object.hasOwn(before, name) && Object.hasOwn(now, name)) return findBreakingChanges(before[name], now[name], at)
    if (Object.hasOwn(before, name)) return [sentence(at, 'is gone')]
    return canGrow(where) ? [] : [sentence(at, `is new: ${shown(now[name])}`)]
  })
}

/** Returns whether entries may be added at this path. Fields, methods and definitions may; schema keywords may not. */
const canGrow = (where: readonly string[]): boolean =>
  where.length === 0 || where.at(-1) === 'properties' || where.at(-1) === '$defs'

const extensibleKeywords = new Set(['enum', 'callers', 'publishers'])
const alternatives = new Set(['anyOf', 'oneOf'])

const compareLists = (before: readonly unknown[], now: readonly unknown[], where: readonly string[]): string[] => {
  const keyword = where.at(-1) ?? ''
  if (alternatives.has(keyword) && before.length <= now.length) {
    return before.flatMap((schema, index) => findBreakingChanges(schema, now[index], [...where, String(index)]))
  }
  const added = extensibleKeywords.has(keyword)
    ? []
    : subtractValues(now, before).map((value) => sentence(where, `has ${shown(value)}`))
  return [...subtractValues(before, now).map((value) => sentence(where, `lacks ${shown(value)}`)), ...added]
}

const subtractValues = (values: readonly unknown[], others: readonly unknown[]): unknown[] =>
  values.filter((value) => !others.some((other) => isDeepStrictEqual(value, other)))

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sentence = (where: readonly string[], what: string): string => `${where.join('.')} ${what}`
const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
