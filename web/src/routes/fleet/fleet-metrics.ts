import type { Unit } from '#proto/catalogue.ts'
import type { FleetHostView } from '#proto/http/fleet.ts'

export type FleetMetricName = keyof NonNullable<FleetHostView['load']>

/** A metric by which hosts are compared. */
export interface FleetMetric {
  name: FleetMetricName
  label: string
  unit: Unit
  /** Lower bound of the standard deviation, so that nearly equal values have no outliers. */
  minSpread: number
  /** The maximum possible value, such as 100 %; undefined if there is none. */
  whole?: number
}

export const fleetMetrics: readonly FleetMetric[] = [
  { name: 'cpu', label: 'CPU', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'memory', label: 'Memory', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'disk', label: 'Disk', unit: 'percent', minSpread: 5, whole: 100 },
  { name: 'queries', label: 'Running queries', unit: 'count', minSpread: 3 },
  { name: 'merges', label: 'Merges', unit: 'count', minSpread: 3 },
  { name: 'delay', label: 'Replica delay', unit: 'seconds', minSpread: 10 },
  { name: 'readonly', label: 'Read-only replicas', unit: 'count', minSpread: 0.25 },
]
