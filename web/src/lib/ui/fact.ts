import type { Unit } from '#proto/catalogue.ts'

/** A figure with its unit, or a text, and an optional note below. */
export interface Fact {
  name: string
  value: number | string | null
  unit?: Unit
  note?: string
}
