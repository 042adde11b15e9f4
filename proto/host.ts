import { z } from 'zod'

/** Stable key of a monitored host: its label, or a hash of its URL without credentials. */
export const HostKey = z.string().min(1).max(128)

/** Input fields of every method that queries one host. */
export const hostInput = { hostKey: HostKey }
/** One of several queried hosts. `error` is why its query failed; the results of the other hosts remain valid. */
export const QueriedHost = z.object({
  hostKey: HostKey,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type QueriedHost = z.infer<typeof QueriedHost>
/** Services that can read data of hosts. */
export const hostDataReaders = ['gateway', 'agent', 'mcp', 'report', 'alert-dispatcher'] as const

/** Names of the embedded hosts with example data that a first start without hosts runs. */
export const exampleHostNames = ['sandbox-1', 'sandbox-2'] as const

/** A configured host without its URL, user and password. `id` is its position in the list. */
export const Host = z.object({
  id: z.number().int(),
  key: HostKey,
  name: z.string(),
  /** Host name and port without scheme, path or credentials. */
  host: z.string(),
  group: z.string().nullable(),
  tags: z.array(z.string()),
  /** Id of a host that was added at run time; absent for a host of a file or variable. */
  managedId: z.string().optional(),
})
export type Host = z.infer<typeof Host>

/** Version, uptime, name and clock of a host, as reported by the host. */
export const HostStatus = z.object({
  version: z.string(),
  uptimeSeconds: z.number(),
  hostname: z.string(),
  timezone: z.string(),
  /** How far the clock of the host is ahead of this process, in milliseconds; negative if it is behind. */
  clockSkewMs: z.number(),
})
export type HostStatus = z.infer<typeof HostStatus>

/** The metrics of `fleet=1`, fetched with one statement; null if the host does not report them. */
export const FleetMetrics = z.object({
  databases: z.number().nullable(),
  tables: z.number().nullable(),
  runningQueries: z.number().nullable(),
  merges: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  memoryTotalBytes: z.number().nullable(),
  loadAverage: z.number().nullable(),
  /** CPU usage of all cores together, from 0 to 1. */
  cpuUsage: z.number().nullable().default(null),
  cpuCores: z.number().nullable(),
  diskUsedBytes: z.number().nullable(),
  diskTotalBytes: z.number().nullable(),
  readonlyReplicas: z.number().nullable(),
  maxReplicaDelaySeconds: z.number().nullable(),
})
export type FleetMetrics = z.infer<typeof FleetMetrics>

/** The load of a host. Values that the host does not report are null. */
export const HostLoad = FleetMetrics.omit({ databases: true, tables: true, cpuCores: true })
export type HostLoad = z.infer<typeof HostLoad>

/** The result of the last background probe of a host. For `down`, `reason` is the cause. */
export const HostState = z.object({
  key: HostKey,
  id: z.number().int(),
  name: z.string(),
  status: z.enum(['up', 'down', 'unknown']),
  reason: z.enum(['unreachable', 'timeout', 'refused', 'garbage']).nullable(),
  /** The error message; null if the host was up, and from older releases. */
  failure: z.string().nullable().default(null),
  version: z.string().nullable(),
  uptimeSeconds: z.number().nullable(),
  latencyMs: z.number().nullable(),
  /** Epoch milliseconds of the probe; null before the first one. */
  checkedAtMs: z.number().nullable(),
  /** How far the clock of the host is ahead, in milliseconds; 0 before the first probe, and from older releases. */
  clockSkewMs: z.number().default(0),
  /**
   * GRANT statements for an administrator that let the user of the host see all objects. Empty if it sees all, or
   * before the first successful probe.
   */
  missingGrants: z.array(z.string()).default([]),
  /**
   * Log tables that pages with history read and that are missing or not visible. Empty before the first successful
   * probe, and from older releases.
   */
  missingLogs: z.array(z.string()).default([]),
})
export type HostState = z.infer<typeof HostState>
