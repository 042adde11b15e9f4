import type { FleetHost } from '#proto/fleet.ts'
import type { HostLoad } from '#proto/query.ts'
import type { QueryHandlers } from './query.ts'

const load: HostLoad = {
  runningQueries: 2,
  merges: 1,
  memoryUsedBytes: 10,
  memoryTotalBytes: 100,
  loadAverage: 0.5,
  cpuUsage: 0.25,
  diskUsedBytes: 1,
  diskTotalBytes: 2,
  readonlyReplicas: 0,
  maxReplicaDelaySeconds: null,
}

const up: FleetHost = {
  id: 0,
  key: 'analytics',
  name: 'analytics',
  group: 'eu',
  tags: ['prod'],
  status: 'up',
  reason: null,
  version: '26.3.1',
  uptimeSeconds: 60,
  latencyMs: 2,
  load,
  ageMs: 4_000,
}
const down: FleetHost = {
  id: 1,
  key: 'logs',
  name: 'logs',
  group: null,
  tags: [],
  status: 'down',
  reason: 'unreachable',
  version: null,
  uptimeSeconds: null,
  latencyMs: null,
  load: null,
  ageMs: 6_000,
}

const cost = { statements: 3, failures: 1, cpuMs: 20, durationMs: 30, readRows: 40, readBytes: 50 }
const window = { interval: null, fromMs: 0, toMs: 3_600_000 }

/** Answers about several hosts at once, and about what asking them costs. */
export const fakeFleet = {
  fleet: async () => [up, down],
  ownCost: async () => ({
    cost: { total: { ...cost, cpuShare: 0.01 }, purposes: [{ purpose: 'chart', ...cost }] },
    window,
    unavailable: null,
  }),
} satisfies Partial<QueryHandlers>
