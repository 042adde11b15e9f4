import type { FleetHostView } from '#proto/http/fleet.ts'
import { fleetMetrics, type FleetMetric } from './fleet-metrics.ts'

/** A host with a much higher value than its peers. */
export interface Outlier {
  host: FleetHostView
  measure: FleetMetric
  value: number
  /** The median of the peers of the host. */
  peerMedian: number
  /** Distance from the median, in standard deviations. */
  distance: number
}

/** Minimum size of a group. Hosts in smaller groups are compared with all hosts. */
const minPeers = 5
/** Modified z-score above which a host is an outlier, as recommended by Iglewicz and Hoaglin. */
const outlierDistance = 3.5
/** Scales the median absolute deviation to the standard deviation of a normal distribution. */
const deviationScale = 1.4826

/** Returns the hosts whose values are far above those of their group, sorted by distance from the median. */
export const findOutliers = (hosts: readonly FleetHostView[]): Outlier[] => {
  const groups = Map.groupBy(hosts, ({ group }) => group ?? '')
  return fleetMetrics
    .flatMap((measure) => {
      const everywhere = spreadOf(hosts, measure)
      return [...groups.values()].flatMap((members) => {
        const { peerMedian, spread } = members.length >= minPeers ? spreadOf(members, measure) : everywhere
        return members.flatMap((host) => {
          const value = host.load?.[measure.name]
          if (value == null) return []
          const distance = (value - peerMedian) / spread
          return distance > outlierDistance ? [{ host, measure, value, peerMedian, distance }] : []
        })
      })
    })
    .toSorted((one, other) => other.distance - one.distance)
}

const spreadOf = (
  hosts: readonly FleetHostView[],
  { name, minSpread }: FleetMetric,
): { peerMedian: number; spread: number } => {
  const values = hosts.flatMap(({ load }) => load?.[name] ?? [])
  const peerMedian = computeMedian(values)
  const deviation = computeMedian(values.map((value) => Math.abs(value - peerMedian)))
  return { peerMedian, spread: Math.max(minSpread, deviation * deviationScale) }
}

export const computeMedian = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [below = 0, above = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]]
  return (below + above) / 2
}
