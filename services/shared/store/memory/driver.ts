import { ServiceError } from '#proto/errors.ts'
import type {
  StoreChange,
  ClaimedOutboxMessage,
  StoreDriver,
  StoredValue,
  ValueChange,
  WriteResult,
} from '../driver.ts'
import type { Fence } from '../store.ts'

const maxKeys = 200_000
/** Number of writes after which expired values are removed, so that unread keys do not accumulate. */
const purgeEveryWrites = 1_000

/** Returns a monotonic time, so that a change of the system clock neither ends a lease early nor extends it. */
const readClockMs = (): number => performance.now()

interface ExpiringValue extends StoredValue {
  expiresAtMs: number
}

interface PendingMessage {
  text: string
  attempt: number
  claimedUntilMs: number
}

interface HeldLease {
  token: number
  expiresAtMs: number
}

/**
 * Opens a driver in memory, whose state is lost when the process ends. Like a server it has its own clock, which tests
 * cannot change.
 */
export const openMemoryDriver = (): StoreDriver => {
  const values = new Map<string, ExpiringValue>()
  const leases = new Map<string, HeldLease>()
  const outbox = new Map<string, PendingMessage>()
  const wakes = new Set<() => void>()
  const write = createWriter({ values, leases, outbox, wakes })
  return {
    connected: true,
    read: async (keys) => keys.map((key) => readLiveValue(values, key)),
    write: async (change) => write(change),
    takeLease: async (name, lengthMs) => takeLease(leases, name, lengthMs),
    renewLease: async (fence, lengthMs) => renewLease(leases, fence, lengthMs),
    releaseLease: async (fence) => void renewLease(leases, fence, 0),
    claim: async (max, claimMs) => claim(outbox, max, claimMs),
    ack: async (ids) => {
      for (const id of ids) outbox.delete(id)
    },
    renew: async (ids, claimMs) => {
      for (const message of ids.flatMap((id) => outbox.get(id) ?? []))
        if (message.claimedUntilMs > readClockMs()) message.claimedUntilMs = readClockMs() + claimMs
    },
    holds: async (ids) => ids.filter((id) => outbox.has(id)),
    listen: async (wake) => {
      wakes.add(wake)
      return { [Symbol.asyncDispose]: async () => void wakes.delete(wake) }
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

interface Contents {
  values: Map<string, ExpiringValue>
  leases: Map<string, HeldLease>
  outbox: Map<string, PendingMessage>
  wakes: Set<() => void>
}

const createWriter = ({ values, leases, outbox, wakes }: Contents) => {
  let writes = 0
  return (change: StoreChange): WriteResult => {
    writes += 1
    if (writes % purgeEveryWrites === 0 || values.size >= maxKeys) purge(values)
    const { fence, messages, acks, needs, claimMs } = change
    if (fence && (leases.get(fence.name)?.token ?? 0) > fence.token) return 'fenced'
    if (change.values.some(({ key, expected }) => readLiveValue(values, key)?.version !== expected)) return 'changed'
    if (needs.some((id) => !outbox.has(id))) return 'gone'
    const ended = acks.filter((id) => outbox.has(id))
    if (messages.length > 0 && outbox.size - ended.length + messages.length > change.outboxLimit) return 'full'
    for (const value of change.values) put(values, value)
    for (const id of ended) outbox.delete(id)
    const fresh = claimMs === undefined ? unclaimedState : { attempt: 1, claimedUntilMs: readClockMs() + claimMs }
    for (const { id, text } of messages) if (!outbox.has(id)) outbox.set(id, { text, ...fresh })
    if (messages.length > 0 && claimMs === undefined) for (const wake of wakes) wake()
    return 'written'
  }
}

const unclaimedState = { attempt: 0, claimedUntilMs: 0 }

const put = (values: Map<string, ExpiringValue>, { key, version, text, expiresInMs }: ValueChange): void => {
  if (text === undefined) return void values.delete(key)
  if (!values.has(key) && values.size >= maxKeys) {
    throw new ServiceError('busy', `the in-memory store is full (${maxKeys} keys); set REDIS_URL to store more`)
  }
  values.set(key, { version, text, expiresAtMs: expiresInMs === undefined ? Infinity : readClockMs() + expiresInMs })
}

const readLiveValue = (values: Map<string, ExpiringValue>, key: string): StoredValue | undefined => {
  const value = values.get(key)
  if (!value || value.expiresAtMs > readClockMs()) return value
  values.delete(key)
  return undefined
}

const purge = (values: Map<string, ExpiringValue>): void => {
  for (const [key, value] of values) if (value.expiresAtMs <= readClockMs()) values.delete(key)
}

const takeLease = (leases: Map<string, HeldLease>, name: string, lengthMs: number): number | undefined => {
  const held = leases.get(name)
  if (held && held.expiresAtMs > readClockMs()) return undefined
  const token = (held?.token ?? 0) + 1
  leases.set(name, { token, expiresAtMs: readClockMs() + lengthMs })
  return token
}

const renewLease = (leases: Map<string, HeldLease>, { name, token }: Fence, lengthMs: number): boolean => {
  const held = leases.get(name)
  if (held?.token !== token || held.expiresAtMs <= readClockMs()) return false
  held.expiresAtMs = readClockMs() + lengthMs
  return true
}

const claim = (outbox: Map<string, PendingMessage>, max: number, claimMs: number): ClaimedOutboxMessage[] => {
  const claimed: ClaimedOutboxMessage[] = []
  for (const [id, message] of outbox) {
    if (claimed.length >= max) break
    if (message.claimedUntilMs > readClockMs()) continue
    message.claimedUntilMs = readClockMs() + claimMs
    message.attempt += 1
    claimed.push({ id, text: message.text, attempt: message.attempt })
  }
  return claimed
}
