import { isDeepStrictEqual } from 'node:util'

/**
 * Returns the contract changes that make two releases incompatible. Optional fields, methods, enumeration values,
 * alternatives and callers may be added. Any other difference is a breaking change.
 */
export const findBreakingChanges = (before: unknown, now: unknown, where: readonly string[] = []): string[] => {
  if (isRecord(before) && isRecord(now)) return ofRecords(before, now, where)
  if (Array.isArray(before) && Array.isArray(now)) return ofLists(before, now, where)
  return isDeepStrictEqual(before, now) ? [] : [sentence(where, `was ${shown(before)} and is ${shown(now)}`)]
}

type Named = Readonly<Record<string, unknown>>

const ofRecords = (before: Named, now: Named, where: readonly string[]): string[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.flatMap((name) => {
    const at = [...where, name]
    if (Object.hasOwn(before, name) && Object.hasOwn(now, name)) return findBreakingChanges(before[name], now[name], at)
    if (Object.hasOwn(before, name)) return [sentence(at, 'is gone')]
    return mayGrow(where) ? [] : [sentence(at, `is new: ${shown(now[name])}`)]
  })
}

/** Returns whether entries may be added at this path. Fields, methods and definitions may; schema keywords may not. */
const mayGrow = (where: readonly string[]): boolean =>
  where.length === 0 || where.at(-1) === 'properties' || where.at(-1) === '$defs'

const growing = new Set(['enum', 'callers', 'publishers'])
const alternatives = new Set(['anyOf', 'oneOf'])

const ofLists = (before: readonly unknown[], now: readonly unknown[], where: readonly string[]): string[] => {
  const keyword = where.at(-1) ?? ''
  if (alternatives.has(keyword) && before.length <= now.length) {
    return before.flatMap((schema, index) => findBreakingChanges(schema, now[index], [...where, String(index)]))
  }
  const added = growing.has(keyword) ? [] : without(now, before).map((value) => sentence(where, `has ${shown(value)}`))
  return [...without(before, now).map((value) => sentence(where, `lacks ${shown(value)}`)), ...added]
}

const without = (values: readonly unknown[], others: readonly unknown[]): unknown[] =>
  values.filter((value) => !others.some((other) => isDeepStrictEqual(value, other)))

const isRecord = (value: unknown): value is Named =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sentence = (where: readonly string[], what: string): string => `${where.join('.')} ${what}`
const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
