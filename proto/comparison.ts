import { z } from 'zod'
import { rpc } from './contract.ts'
import { Fingerprint } from './fingerprints.ts'
import { AskedHost, FleetMetrics, HostStatus, readers } from './host.ts'
import { ComparedHosts } from './settings-diff.ts'
import { Unavailable } from './unavailable.ts'
import { UsedWindow, Window } from './window.ts'

/** A host of a comparison: its key figures, or why it gave none. */
export const ComparedHost = AskedHost.extend({
  status: HostStatus.nullable(),
  metrics: FleetMetrics.nullable(),
  /** Why it cannot tell its patterns. */
  unavailable: Unavailable.nullable(),
})
export type ComparedHost = z.infer<typeof ComparedHost>

/** One pattern on one host. */
export const PatternFigures = Fingerprint.pick({
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
export type PatternFigures = z.infer<typeof PatternFigures>

/** One pattern on all compared hosts, in their order; null where it did not run or the host could not tell. */
export const ComparedPattern = Fingerprint.pick({ hash: true, query: true, kind: true }).extend({
  values: z.array(PatternFigures.nullable()),
})
export type ComparedPattern = z.infer<typeof ComparedPattern>

/** Methods that set hosts side by side. */
export const comparisonMethods = {
  comparison: rpc({
    doc: 'Key figures of several hosts side by side, and the patterns on which they differ most in time; each host fails alone.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    input: z.object({
      hostKeys: ComparedHosts,
      ...Window.pick({ lastHours: true, from: true, to: true }).shape,
      /** Patterns told at most: of the costliest of each host, those that differ most. */
      limit: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      hosts: z.array(ComparedHost),
      patterns: z.array(ComparedPattern),
      /** By the clock of the first host that answered; null when none did. */
      window: UsedWindow.nullable(),
    }),
  }),
}
