import { z } from 'zod'
import type { Redis } from 'ioredis'
import {
  type StoreChange,
  type ClaimedOutboxMessage,
  type StoreDriver,
  type StoredValue,
  maxClaimMs,
} from '../driver.ts'
import type { Fence } from '../store.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { connectRedis } from './connection.ts'
import { outboxChannel, redisKeys, formatLeaseKey, formatValueKey } from './keys.ts'
import { type RedisScript, toRedisFailure, describeRedisError, runRedisScript, createScript } from './run-script.ts'
import {
  ackScript,
  claimScript,
  findMessagesScript,
  renewLeaseScript,
  renewScript,
  takeLeaseScript,
  writeScript,
} from './scripts.ts'

/** A function that runs a script; throws `unavailable` immediately while the server does not respond. */
type Evaluate = (script: RedisScript, keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown>

/** Opens a driver on Redis, whose state all processes share. `report` is called on every outage and recovery. */
export const openRedisDriver = async (
  url: string,
  report?: (connected: boolean, reason?: string) => void,
): Promise<StoreDriver> => {
  const client = await connectRedis(url)
  const { host: address } = new URL(url)
  const explain = (error: unknown) => describeRedisError(error, address)
  const heartbeat = startHeartbeat(() => client.ping(), report, explain)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    heartbeat.require()
    return work().catch((error: unknown) => Promise.reject(toRedisFailure(error, address)))
  }
  const evaluate: Evaluate = (lua, keys, values) => guarded(() => runRedisScript(client, lua, keys, values))
  return {
    get connected() {
      return heartbeat.connected
    },
    get problem() {
      return heartbeat.reason
    },
    read: (names) => guarded(() => read(client, names)),
    write: async (change) => WriteReply.parse(await write(evaluate, change)),
    takeLease: (name, lengthMs) => takeLease(evaluate, name, lengthMs),
    renewLease: (fence, lengthMs) => renewLease(evaluate, fence, lengthMs),
    releaseLease: async (fence) => void (await renewLease(evaluate, fence, 0)),
    claim: (max, claimMs) => claim(evaluate, max, claimMs),
    ack: async (ids) => void (await evaluate(ackLua, [messages, waiting, claimed, attempts], ids)),
    renew: async (ids, claimMs) => void (await evaluate(renewLua, [claimed], [claimMs, ...ids])),
    holds: async (ids) => z.array(z.string()).parse(await evaluate(holdsLua, [messages], ids)),
    listen: (wake) => listen(client, wake),
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      client.disconnect()
    },
  }
}

const { fences, messages, waiting, claimed, attempts } = redisKeys
const Stored = z.tuple([z.string().nullable(), z.string().nullable()])

const read = async (client: Redis, names: readonly string[]): Promise<(StoredValue | undefined)[]> => {
  const [only, ...others] = names
  if (only !== undefined && others.length === 0)
    return [parseStored(await client.hmget(formatValueKey(only), 'version', 'text'))]
  const pipeline = client.pipeline()
  for (const name of names) pipeline.hmget(formatValueKey(name), 'version', 'text')
  return ((await pipeline.exec()) ?? []).map(([error, found]) => {
    if (error) throw error
    return parseStored(found)
  })
}

const parseStored = (found: unknown): StoredValue | undefined => {
  const [version, text] = Stored.parse(found)
  return version === null || text === null ? undefined : { version, text }
}

const writeLua = createScript(writeScript)
const WriteReply = z.enum(['written', 'changed', 'fenced', 'full', 'gone'])

const write = (evaluate: Evaluate, change: StoreChange): Promise<unknown> => {
  const { values, fence, acks, needs, outboxLimit, claimMs } = change
  const names = [fences, messages, waiting, claimed, attempts, ...values.map(({ key }) => formatValueKey(key))]
  return evaluate(writeLua, names, [
    fence?.name ?? '',
    fence?.token ?? 0,
    outboxLimit,
    outboxChannel,
    claimMs ?? 0,
    acks.length,
    needs.length,
    ...acks,
    ...needs,
    ...values.flatMap(({ expected, version, text, expiresInMs }) => [
      expected ?? '',
      version,
      text === undefined ? 0 : 1,
      text ?? '',
      expiresInMs ?? '',
    ]),
    ...change.messages.flatMap(({ id, text }) => [id, text]),
  ])
}

const takeLeaseLua = createScript(takeLeaseScript)
const renewLeaseLua = createScript(renewLeaseScript)

const takeLease = async (evaluate: Evaluate, name: string, lengthMs: number): Promise<number | undefined> => {
  const token = z.number().parse(await evaluate(takeLeaseLua, [formatLeaseKey(name), fences], [name, lengthMs]))
  return token === 0 ? undefined : token
}

const renewLease = async (evaluate: Evaluate, { name, token }: Fence, lengthMs: number): Promise<boolean> =>
  (await evaluate(renewLeaseLua, [formatLeaseKey(name)], [token, lengthMs])) === 1

const claimLua = createScript(claimScript)
const ackLua = createScript(ackScript)
const renewLua = createScript(renewScript)
const holdsLua = createScript(findMessagesScript)
const Claimed = z.array(z.tuple([z.string(), z.string(), z.number()]))

const claim = async (evaluate: Evaluate, max: number, claimMs: number): Promise<ClaimedOutboxMessage[]> => {
  const replies = await evaluate(claimLua, [messages, waiting, claimed, attempts], [max, maxClaimMs, claimMs])
  return Claimed.parse(replies).map(([id, message, attempt]) => ({
    id,
    text: message.slice(message.indexOf(' ') + 1),
    attempt,
  }))
}

/** Subscribes on a separate connection, because a subscribed one cannot send commands. */
const listen = async (client: Redis, wake: () => void): Promise<AsyncDisposable> => {
  const subscriber = client.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null, lazyConnect: false })
  // Errors are ignored, because the heartbeat reports an outage and listeners poll during it.
  subscriber.on('error', () => {})
  subscriber.on('message', wake)
  subscriber.on('ready', wake)
  subscriber.subscribe(outboxChannel).catch(() => {})
  return { [Symbol.asyncDispose]: async () => subscriber.disconnect() }
}
