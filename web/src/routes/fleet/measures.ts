import type { Unit } from '#proto/catalogue.ts'
import type { FleetEntry } from '#proto/http/fleet.ts'

export type MeasureName = keyof NonNullable<FleetEntry['load']>

/** A metric by which hosts are compared. */
export interface Measure {
  name: MeasureName
  label: string
  unit: Unit
  /** Minimum assumed deviation, so that hosts with nearly equal values have no outliers. */
  minSpread: number
  /** The end of the scale, for example 100 %. Absent if the values have no maximum. */
  whole?: number
}

export const measures: readonly Measure[] = [
  { name: 'cpu', label: 'CPU', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'memory', label: 'Memory', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'disk', label: 'Disk', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'queries', label: 'Running queries', unit: 'count', minSpread: 3 },
  { name: 'merges', label: 'Merges', unit: 'count', minSpread: 3 },
  { name: 'delay', label: 'Replica delay', unit: 'seconds', minSpread: 10 },
  { name: 'readonly', label: 'Read-only replicas', unit: 'count', minSpread: 0.25 },
]
