import { z } from 'zod'

/** Levels of arrays and objects within each other; deeper ones would exhaust the stack of whatever writes them as JSON. */
const mostLevels = 32

/** A refinement: the value takes at most so many characters as JSON. */
export const atMostAsJson = (characters: number) => ({
  check: (value: unknown): boolean => !isDeep(value) && (JSON.stringify(value)?.length ?? 0) <= characters,
  message: `must not take more than ${characters} characters as JSON, nor more than ${mostLevels} levels`,
})

/** Whatever JSON can say, within a size. */
export const boundedJson = (characters: number) => {
  const { check, message } = atMostAsJson(characters)
  return z.unknown().refine(check, message)
}

/** Looks level by level, since calling itself for each would exhaust the stack as well. */
const isDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostLevels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
