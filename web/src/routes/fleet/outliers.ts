import type { FleetEntry } from '#proto/http/fleet.ts'
import { measures, type Measure } from './measures.ts'

/** A host that has far more of something than its peers. */
export interface Outlier {
  host: FleetEntry
  measure: Measure
  value: number
  /** The middle of its peers. */
  usual: number
  /** How many times the usual spread it lies above the middle. */
  distance: number
}

/** Fewer hosts of a group say nothing about what is usual; they are compared with all. */
const fewestPeers = 5
/** The usual threshold of Iglewicz and Hoaglin for scores by the median absolute deviation. */
const farthestUsual = 3.5
/** By which the median absolute deviation of a normal distribution becomes its standard deviation. */
const toDeviation = 1.4826

/** Hosts above their peers, the farthest first: those of the same group, where there are enough. */
export const outliersOf = (hosts: readonly FleetEntry[]): Outlier[] => {
  const groups = Map.groupBy(hosts, ({ group }) => group ?? '')
  return measures
    .flatMap((measure) => {
      const everywhere = spreadOf(hosts, measure)
      return [...groups.values()].flatMap((members) => {
        const { usual, spread } = members.length >= fewestPeers ? spreadOf(members, measure) : everywhere
        return members.flatMap((host) => {
          const value = host.load?.[measure.name]
          if (value == null) return []
          const distance = (value - usual) / spread
          return distance > farthestUsual ? [{ host, measure, value, usual, distance }] : []
        })
      })
    })
    .toSorted((one, other) => other.distance - one.distance)
}

const spreadOf = (hosts: readonly FleetEntry[], { name, leastSpread }: Measure): { usual: number; spread: number } => {
  const values = hosts.flatMap(({ load }) => load?.[name] ?? [])
  const usual = median(values)
  const deviation = median(values.map((value) => Math.abs(value - usual)))
  return { usual, spread: Math.max(leastSpread, deviation * toDeviation) }
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [below = 0, above = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]]
  return (below + above) / 2
}
