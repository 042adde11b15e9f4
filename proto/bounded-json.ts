import { z } from 'zod'

/** The maximum nesting of arrays and objects; deeper values would exhaust the stack of JSON serializers. */
const maxLevels = 32

/** Returns a refinement that limits the length of a value as JSON. */
export const atMostAsJson = (characters: number) => ({
  check: (value: unknown): boolean => !isDeep(value) && (JSON.stringify(value)?.length ?? 0) <= characters,
  message: `must not take more than ${characters} characters as JSON, nor more than ${maxLevels} levels`,
})

/** Returns a schema of any JSON value up to a length. */
export const boundedJson = (characters: number) => {
  const { check, message } = atMostAsJson(characters)
  return z.unknown().refine(check, message)
}

/** Checks level by level, because recursion would exhaust the stack too. */
const isDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxLevels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
