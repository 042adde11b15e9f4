import { z } from 'zod'
import { Finding } from '#proto/finding.ts'
import { HostKey } from '#proto/host.ts'
import type { HostRecord } from './condition.ts'

export const fleetRecordKey = 'alerts:fleet'

const Count = z.number().int().min(0)
const maxHosts = 10_000

/** Summary of one host, so that host lists need not read its record. */
export const HostSummary = z.object({
  /** Whether the host was unreachable in the last sweep. */
  failed: z.boolean(),
  /** Number of conditions in the record, in any phase. */
  conditions: Count,
  firing: Count,
  unknown: Count,
  worst: Finding.nullable(),
  /** When the worst condition first breached. */
  worstSinceMs: z.number().int().nullable().default(null),
})
export type HostSummary = z.infer<typeof HostSummary>

/** State of the sweeps that all dispatchers share. It is written when a sweep starts and when it ends. */
export const FleetRecord = z.object({
  /** Number of sweeps started so far. */
  sweeps: Count,
  startedAtMs: z.number().int().nullable(),
  /** When the last successful sweep ended; null before the first, and in records of older releases. */
  succeededAtMs: z.number().int().nullable().default(null),
  /** Whether a sweep started and has not ended. It stays set if the process died. */
  isSweeping: z.boolean(),
  hosts: z
    .record(HostKey, HostSummary)
    .refine((hosts) => Object.keys(hosts).length <= maxHosts, `at most ${maxHosts} hosts`),
})
export type FleetRecord = z.infer<typeof FleetRecord>

export const emptyFleetRecord: FleetRecord = {
  sweeps: 0,
  startedAtMs: null,
  succeededAtMs: null,
  isSweeping: false,
  hosts: {},
}

/** Summary of a host that was never swept. */
export const emptyHostSummary: HostSummary = {
  failed: false,
  conditions: 0,
  firing: 0,
  unknown: 0,
  worst: null,
  worstSinceMs: null,
}

/** Maximum length of the title of a finding. */
const maxTitleLength = 60

/** Returns the summary of a host record; `failed` marks a host that was unreachable. */
export const summarizeHost = ({ conditions, checks }: HostRecord, failed: boolean): HostSummary => {
  const all = Object.values(conditions)
  const firing = all.filter(({ phase }) => phase === 'firing')
  const worst = firing.find(({ severity }) => severity === 'critical') ?? firing[0]
  return {
    failed,
    conditions: all.length,
    firing: firing.length,
    unknown: Object.values(checks).filter(({ status }) => status === 'unknown').length,
    worst: worst ? { severity: worst.severity, title: [...worst.title].slice(0, maxTitleLength).join('') } : null,
    worstSinceMs: worst?.sinceMs ?? null,
  }
}
