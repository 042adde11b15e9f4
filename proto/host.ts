import { z } from 'zod'

/** Stable name of a monitored host: its label, else a hash of its URL without credentials. */
export const HostKey = z.string().min(1).max(128)

/** Input of every method that asks one host. */
export const ofHost = { hostKey: HostKey }
/** One of several hosts that were asked at once, and why it gave no answer; the others' answers stand. */
export const AskedHost = z.object({
  hostKey: HostKey,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type AskedHost = z.infer<typeof AskedHost>
/** Services that may read what hosts say. */
export const readers = ['gateway', 'agent', 'mcp', 'report', 'alert-dispatcher'] as const

/** A configured host as callers may see it: never its URL, user or password. `id` is its position in the list. */
export const Host = z.object({
  id: z.number().int(),
  key: HostKey,
  name: z.string(),
  /** Host name and port without scheme, path or credentials. */
  host: z.string(),
  group: z.string().nullable(),
  tags: z.array(z.string()),
})
export type Host = z.infer<typeof Host>

/** What a host says of itself, in seconds and milliseconds as named. */
export const HostStatus = z.object({
  version: z.string(),
  uptimeSeconds: z.number(),
  hostname: z.string(),
  timezone: z.string(),
  /** Their clock minus ours, in milliseconds. */
  clockSkewMs: z.number(),
})
export type HostStatus = z.infer<typeof HostStatus>

/** The bundle behind `fleet=1`: one statement, null where the host cannot tell. */
export const FleetMetrics = z.object({
  databases: z.number().nullable(),
  tables: z.number().nullable(),
  runningQueries: z.number().nullable(),
  merges: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  memoryTotalBytes: z.number().nullable(),
  loadAverage: z.number().nullable(),
  /** Of all cores, from 0 to 1. */
  cpuUsage: z.number().nullable().default(null),
  cpuCores: z.number().nullable(),
  diskUsedBytes: z.number().nullable(),
  diskTotalBytes: z.number().nullable(),
  readonlyReplicas: z.number().nullable(),
  maxReplicaDelaySeconds: z.number().nullable(),
})
export type FleetMetrics = z.infer<typeof FleetMetrics>

/** The figures that say how busy a host is; null where it cannot tell. */
export const HostLoad = FleetMetrics.omit({ databases: true, tables: true, cpuCores: true })
export type HostLoad = z.infer<typeof HostLoad>

/** What the last background probe of a host found. `down` names the cause in `reason`. */
export const HostState = z.object({
  key: HostKey,
  id: z.number().int(),
  name: z.string(),
  status: z.enum(['up', 'down', 'unknown']),
  reason: z.enum(['unreachable', 'timeout', 'refused', 'garbage']).nullable(),
  /** The same in words, which say how; null where it was found up, and of a release that did not tell. */
  failure: z.string().nullable().default(null),
  version: z.string().nullable(),
  uptimeSeconds: z.number().nullable(),
  latencyMs: z.number().nullable(),
  /** Epoch milliseconds of the probe; null before the first one ended. */
  checkedAtMs: z.number().nullable(),
  /** How far the clock of the host is ahead of the service's, in milliseconds; 0 before the first probe, and of a release that did not tell. */
  clockSkewMs: z.number().default(0),
})
export type HostState = z.infer<typeof HostState>
