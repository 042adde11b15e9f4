import { ServiceError } from '#proto/errors.ts'

const deepest = 32
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** Throws `invalid` for a value that is nested too deep or has names that stand for something else in the language. */
export const requireSound = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return
  if (depth >= deepest) throw new ServiceError('invalid', `the body must not be nested deeper than ${deepest} levels`)
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && forbidden.has(name))
      throw new ServiceError('invalid', `the body must not have a field ${name}`)
    requireSound(inner, depth + 1)
  }
}
