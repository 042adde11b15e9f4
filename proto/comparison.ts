import { z } from 'zod'
import { rpc } from './contract.ts'
import { QueryPatternSummary } from './fingerprints.ts'
import { QueriedHost, FleetMetrics, HostStatus, hostDataReaders } from './host.ts'
import { schemaDiffMethods } from './schema-diff.ts'
import { ComparedHostKeys } from './settings-diff.ts'
import { UnavailableReason } from './unavailable-reason.ts'
import { TimeRangeInput, UsedWindow } from './time-window.ts'

/** A host of a comparison: its key metrics, or why it has none. */
export const ComparedHost = QueriedHost.extend({
  status: HostStatus.nullable(),
  metrics: FleetMetrics.nullable(),
  /** Why the host returned no query patterns; null if it returned them. */
  unavailable: UnavailableReason.nullable(),
})
export type ComparedHost = z.infer<typeof ComparedHost>

/** Statistics of one query pattern on one host. */
export const PatternStatistics = QueryPatternSummary.pick({
  calls: true,
  totalMs: true,
  averageMs: true,
  p95Ms: true,
  errors: true,
  cpuMs: true,
  readRows: true,
  readBytes: true,
  peakMemoryBytes: true,
})
export type PatternStatistics = z.infer<typeof PatternStatistics>

/**
 * One query pattern on all compared hosts. `values` are in host order; null where the pattern did not run or the host
 * returned no data.
 */
export const ComparedPattern = QueryPatternSummary.pick({ hash: true, query: true, kind: true }).extend({
  values: z.array(PatternStatistics.nullable()),
})
export type ComparedPattern = z.infer<typeof ComparedPattern>

/** The methods of `query` that compare hosts. */
export const comparisonMethods = {
  ...schemaDiffMethods,
  comparison: rpc({
    doc: 'Compares key metrics of several hosts, and the patterns whose time differs most; each host fails independently.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    input: z.object({
      hostKeys: ComparedHostKeys,
      ...TimeRangeInput.shape,
      /** Maximum number of patterns. Of the most expensive ones of each host, those that differ most are returned. */
      limit: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      hosts: z.array(ComparedHost),
      patterns: z.array(ComparedPattern),
      /** The window by the clock of the first reachable host; null if none is reachable. */
      window: UsedWindow.nullable(),
    }),
  }),
}
