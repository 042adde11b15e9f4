/** A mirror of the simulated replication service, with the states of the real one. */
export interface SimulatedMirror {
  name: string
  isCdc: boolean
  status: string
  /** Batches, oldest first. `began` and `ended` are seconds before now; `ended` is null while the batch runs. */
  batches: readonly { began: number; ended: number | null; rows: number }[]
  /** Tables of the initial load, with their finished and total partitions. */
  clones: readonly { table: string; done: number; total: number; rows: number }[]
}

/** A replication slot of the simulated service, with its lag in megabytes. */
export interface SimulatedSlot {
  name: string
  isActive: boolean
  lagMb: number
  history: readonly { ago: number; lagMb: number }[]
}

/** The state of the simulated service, which tests may change while it runs. */
export interface ReplicationFleet {
  mirrors: SimulatedMirror[]
  slots: SimulatedSlot[]
  /** Log lines, newest first. `ago` is in seconds before now. */
  logs: { mirror: string; level: 'info' | 'warn' | 'error'; ago: number; text: string }[]
}

/** Strings that must not occur in any response of Watchhouse. */
export const fleetSecrets = [
  'hunter2-source',
  'hunter2-sink',
  'AKIAIOSFODNN7EXAMPLE',
  'MIIEvQIBADANBg',
  'grace@shop.example',
]

const steady = Array.from({ length: 30 }, (_, index) => ({
  began: 70 + (29 - index) * 60,
  ended: 60 + (29 - index) * 60,
  rows: 1_200 + index,
}))

/** Returns a fleet with a running, a paused, a copying, a failed and a completed mirror. */
export const createShopFleet = (): ReplicationFleet => ({ mirrors: [...mirrors], slots: [...slots], logs: [...logs] })

const mirrors: ReplicationFleet['mirrors'] = [
  {
    name: 'orders',
    isCdc: true,
    status: 'STATUS_RUNNING',
    batches: steady,
    clones: [{ table: 'public.orders', done: 8, total: 8, rows: 640_000 }],
  },
  { name: 'users', isCdc: true, status: 'STATUS_PAUSED', batches: steady.slice(0, 3), clones: [] },
  {
    name: 'events',
    isCdc: true,
    status: 'STATUS_SNAPSHOT',
    batches: [],
    clones: [
      { table: 'public.events', done: 3, total: 40, rows: 90_000 },
      { table: 'public.clicks', done: 40, total: 40, rows: 1_000_000 },
    ],
  },
  {
    name: 'billing',
    isCdc: true,
    status: 'STATUS_FAILED',
    batches: [...steady.slice(0, 5), { began: 900, ended: null, rows: 0 }],
    clones: [],
  },
  { name: 'nightly', isCdc: false, status: 'STATUS_COMPLETED', batches: [], clones: [] },
]

const slots: ReplicationFleet['slots'] = [
  {
    name: 'peerflow_slot_orders',
    isActive: true,
    lagMb: 12.5,
    history: Array.from({ length: 12 }, (_, index) => ({ ago: index * 300, lagMb: 12 + (index % 3) })),
  },
  {
    name: 'peerflow_slot_billing',
    isActive: false,
    lagMb: 2_400,
    history: Array.from({ length: 12 }, (_, index) => ({ ago: index * 300, lagMb: 2_400 - index * 200 })),
  },
]

const logs: ReplicationFleet['logs'] = [
  {
    mirror: 'billing',
    level: 'error',
    ago: 60,
    text: 'failed to push 1200 records for batch 171: dial tcp 10.0.0.9:9000: connect: connection refused',
  },
  {
    mirror: 'billing',
    level: 'error',
    ago: 120,
    text: 'failed to push 900 records for batch 170: dial tcp 10.0.0.9:9000: connect: connection refused',
  },
  {
    mirror: 'users',
    level: 'error',
    ago: 1_800,
    text: 'failed to connect to postgres://replicator:hunter2-source@db.internal:5432/shop: password authentication failed',
  },
  {
    mirror: 'billing',
    level: 'warn',
    ago: 5_000,
    text: 'slow sync to {"host": "ch", "password": "hunter2-sink", "access_key_id": "AKIAIOSFODNN7EXAMPLE"}',
  },
  { mirror: 'orders', level: 'info', ago: 5_400, text: 'pushed 1229 records for batch 29' },
  { mirror: 'orders', level: 'info', ago: 9_000, text: 'pushed 1228 records for batch 28' },
]
