import type { Unit } from '#proto/catalogue.ts'
import type { FleetEntry } from '#proto/http/fleet.ts'

export type MeasureName = keyof NonNullable<FleetEntry['load']>

/** A figure of every host by which hosts are compared. */
export interface Measure {
  name: MeasureName
  label: string
  unit: Unit
  /** Hosts that differ by less are alike, however alike the others are. */
  leastSpread: number
  /** The end of its scale, where it has one. */
  whole?: number
}

export const measures: readonly Measure[] = [
  { name: 'cpu', label: 'CPU', unit: 'percent', leastSpread: 5, whole: 100 },
  { name: 'memory', label: 'Memory', unit: 'percent', leastSpread: 5, whole: 100 },
  { name: 'disk', label: 'Disk', unit: 'percent', leastSpread: 5, whole: 100 },
  { name: 'queries', label: 'Running queries', unit: 'count', leastSpread: 3 },
  { name: 'merges', label: 'Merges', unit: 'count', leastSpread: 3 },
  { name: 'delay', label: 'Replica delay', unit: 'seconds', leastSpread: 10 },
  { name: 'readonly', label: 'Read-only replicas', unit: 'count', leastSpread: 0.25 },
]
