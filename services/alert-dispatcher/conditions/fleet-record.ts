import { z } from 'zod'
import { Finding } from '#proto/finding.ts'
import { HostKey } from '#proto/host.ts'
import type { HostRecord } from './condition.ts'

export const fleetKey = 'alerts:fleet'

const Whole = z.number().int().min(0)
const mostHosts = 10_000

/** What is known of one host without reading its record. */
export const HostSummary = z.object({
  /** It did not answer on the last sweep. */
  failed: z.boolean(),
  /** Conditions in its record, whatever their phase. */
  conditions: Whole,
  firing: Whole,
  unknown: Whole,
  worst: Finding.nullable(),
  /** When the worst of them was breached first. */
  worstSinceMs: z.number().int().nullable().default(null),
})
export type HostSummary = z.infer<typeof HostSummary>

/** What all dispatchers know of the sweeps: written when one begins and when it ends. */
export const FleetRecord = z.object({
  /** Sweeps that have begun. */
  sweeps: Whole,
  begunAtMs: z.number().int().nullable(),
  /** When the last sweep that succeeded ended; null before the first, and of an older release. */
  succeededAtMs: z.number().int().nullable().default(null),
  /** Begun and not ended, or died on the way. */
  isSweeping: z.boolean(),
  hosts: z
    .record(HostKey, HostSummary)
    .refine((hosts) => Object.keys(hosts).length <= mostHosts, `at most ${mostHosts} hosts`),
})
export type FleetRecord = z.infer<typeof FleetRecord>

export const emptyFleet: FleetRecord = { sweeps: 0, begunAtMs: null, succeededAtMs: null, isSweeping: false, hosts: {} }

export const unsweptHost: HostSummary = {
  failed: false,
  conditions: 0,
  firing: 0,
  unknown: 0,
  worst: null,
  worstSinceMs: null,
}

/** As many characters as a finding may have. */
const longestTitle = 60

export const summaryOf = ({ conditions, checks }: HostRecord, failed: boolean): HostSummary => {
  const all = Object.values(conditions)
  const firing = all.filter(({ phase }) => phase === 'firing')
  const worst = firing.find(({ severity }) => severity === 'critical') ?? firing[0]
  return {
    failed,
    conditions: all.length,
    firing: firing.length,
    unknown: Object.values(checks).filter(({ status }) => status === 'unknown').length,
    worst: worst ? { severity: worst.severity, title: [...worst.title].slice(0, longestTitle).join('') } : null,
    worstSinceMs: worst?.sinceMs ?? null,
  }
}
