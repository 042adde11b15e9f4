import type { Unit } from '#proto/catalogue.ts'

/** A key metric: a number with its unit, or a text, with an optional note below. */
export interface KeyMetric {
  name: string
  value: number | string | null
  unit?: Unit
  note?: string
}
