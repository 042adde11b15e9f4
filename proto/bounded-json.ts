import { z } from 'zod'

/** The maximum nesting of arrays and objects; deeper values would exhaust the stack of JSON serializers. */
const maxLevels = 32

/** Returns a refinement that limits the length of a value as JSON, in characters, and its nesting. */
export const limitJsonSize = (characters: number) => ({
  check: (value: unknown): boolean => !isNestedTooDeep(value) && (JSON.stringify(value)?.length ?? 0) <= characters,
  message: `must not exceed ${characters} characters as JSON or ${maxLevels} levels of nesting`,
})

/** Returns a schema for any JSON value of at most `characters` characters as JSON text. */
export const createBoundedJsonSchema = (characters: number) => {
  const { check, message } = limitJsonSize(characters)
  return z.unknown().refine(check, message)
}

/** Returns whether a value is nested deeper than `maxLevels`. Avoids recursion, which could exhaust the stack too. */
export const isNestedTooDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxLevels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
