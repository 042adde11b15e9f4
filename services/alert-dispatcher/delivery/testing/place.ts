import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type Environment, settle, withFiles } from '#shared/config/environment.ts'
import { type Net, openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { Channel } from '../../channels/channel.ts'
import { type Notice, asMessage } from '../../notice.ts'
import type { Policy } from '../../policy.ts'
import { plainPolicy } from '../../testing/story.ts'
import type { ClaimLimits } from '../hand.ts'
import { type Delivery, openDelivery } from '../open.ts'
import type { RetryPlan } from '../retry.ts'

/** Of the gateway, for nobody in particular. */
export const call: Call = {
  identity: { kind: 'service', subject: 'test', features: 'all' },
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  priority: 'person',
}

/** Tries again as the product does, in fewer milliseconds. */
export const briefRetry: RetryPlan = {
  waitsMs: [20, 40, 80],
  jitter: 0.2,
  longestRestMs: 2_000,
  longestWaitMs: 2_000,
  lifeMs: { paging: 4_000, others: 3_000 },
  holdMs: 3_000,
  recordAgainMs: 20,
}

/** Where notices are delivered in a test. */
export interface Place extends AsyncDisposable {
  store: Store
  delivery: Delivery
  policy: Policy
  /** All that was written to the log and stands in metrics, to be searched for secrets. */
  said(): Promise<string>
  /** As a sweep tells it: with state, in one step. */
  tell(...notices: readonly Notice[]): Promise<void>
}

interface Chosen {
  env?: Environment
  channels?: readonly Channel[]
  retry?: RetryPlan
  policy?: Partial<Policy>
  hosts?: readonly Host[]
  store?: Store
  sendWithinMs?: number
  pacedBy?: Clock
  claims?: ClaimLimits
  database?: Database
  subscriptionIdsOf?: (owner: string) => Promise<readonly string[]>
  /** By origin of somebody else's service, the server that stands in its place. */
  standIns?: Readonly<Record<string, string>>
}

const oneHost: Host = { id: 3, key: 'db', name: 'Database', host: 'db:8123', group: 'prod', tags: ['eu'] }

/** Opens delivery on memory, or on what the test brings. */
export const openPlace = async (chosen: Chosen = {}): Promise<Place> => {
  const { channels, retry = briefRetry, hosts = [oneHost], sendWithinMs = 2_000, standIns = {} } = chosen
  const env: Environment = withFiles({ ...chosen.env })
  // As the product does it.
  settle(env)
  await using opening = new AsyncDisposableStack()
  const lines: string[] = []
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => lines.push(line) }))
  const store = chosen.store ?? opening.use(await openStore({ env: {}, busIsShared: false }))
  const policy: Policy = { ...plainPolicy, ...chosen.policy }
  // Delivery asks for the host list and for nothing else.
  const asked = { hosts: async () => [...hosts] } as Partial<Client<typeof query>> as Client<typeof query>
  const delivery = opening.use(
    await openDelivery({
      env,
      store,
      net: hasty(opening.use(openNet({ env })), { timeoutMs: sendWithinMs, standIns }),
      ...(chosen.pacedBy && { pacedBy: chosen.pacedBy }),
      telemetry: telemetry.of('alert-dispatcher'),
      query: asked,
      database: undefined,
      policy: async () => policy,
      retry,
      ...(chosen.claims && { claims: chosen.claims }),
      ...(chosen.database && { database: chosen.database }),
      ...(channels && { channels }),
      ...(chosen.subscriptionIdsOf && { subscriptionIdsOf: chosen.subscriptionIdsOf }),
    }),
  )
  const running = opening.move()
  return {
    store,
    delivery,
    policy,
    said: async () => [...lines, await telemetry.metrics.metrics()].join('\n'),
    tell: async (...notices) => {
      const [first] = notices
      if (!first) return
      const outbox = notices.map(asMessage)
      await store.update(`test:${first.episode}`, z.number(), (count = 0) => ({ value: count + 1, outbox }))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

interface Haste {
  timeoutMs: number
  standIns: Readonly<Record<string, string>>
}

/** The way out with less patience, which leads to the servers of the test. */
const hasty = (net: Net, { timeoutMs, standIns }: Haste): Net => {
  const led = (url: string | URL): string => {
    const { origin, href } = new URL(url)
    const standIn = standIns[origin]
    return standIn === undefined ? href : standIn + href.slice(origin.length)
  }
  return {
    ...net,
    trusted: (url, outgoing) => net.trusted(led(url), { ...outgoing, timeoutMs }),
    guarded: (purpose) => (url, outgoing) => net.guarded(purpose)(led(url), { ...outgoing, timeoutMs }),
    mail: {
      ...net.mail,
      trusted: (place, signal) => net.mail.trusted(place, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])),
    },
  }
}
