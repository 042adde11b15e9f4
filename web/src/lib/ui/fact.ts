import type { Unit } from '#proto/catalogue.ts'

/** One figure of something: a number in its unit, or words, and a quieter line below. */
export interface Fact {
  name: string
  value: number | string | null
  unit?: Unit
  note?: string
}
