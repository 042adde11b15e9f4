import type { Unit } from './catalogue.ts'

/**
 * Units whose values 0, 1 and 2 stand for words: whether something is so, and how well something is. The web reads this file too,
 * so nothing of the schemas is loaded with it.
 */
export const unitWords: Readonly<Partial<Record<Unit, readonly string[]>>> = {
  'yes-no': ['no', 'yes'],
  level: ['well', 'strained', 'failing'],
}
