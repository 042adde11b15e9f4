import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type Environment, freezeEnvironment, resolveFileVariables } from '#shared/config/environment.ts'
import { type Net, openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { Channel } from '../../channels/channel.ts'
import { type Notification, toOutboxMessage } from '../../notification.ts'
import type { Policy } from '../../policy.ts'
import { testPolicy } from '../../testing/simulated-host.ts'
import type { ClaimLimits } from '../claims.ts'
import { type Delivery, openDelivery } from '../open-delivery.ts'
import type { RetryPlan } from '../retry.ts'

/** A service call without a deadline. */
export const testServiceCall: CallContext = {
  identity: { kind: 'service', subject: 'test', features: 'all' },
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  priority: 'person',
}

/** The default retry plan with shorter waits. The lifetime is long, so that a stalled machine ends no message. */
export const shortRetryPlan: RetryPlan = {
  waitsMs: [20, 40, 80],
  jitter: 0.2,
  maxRestMs: 2_000,
  maxWaitMs: 2_000,
  lifeMs: { paging: 60_000, others: 60_000 },
  holdMs: 3_000,
  recordAgainMs: 20,
}

/** A delivery pipeline for tests. */
export interface DeliveryFixture extends AsyncDisposable {
  store: Store
  delivery: Delivery
  policy: Policy
  /** Returns all log and metric output, to search it for secrets. */
  output(): Promise<string>
  /** Writes state and notification in one step, like a sweep. */
  notify(...notifications: readonly Notification[]): Promise<void>
}

interface FixtureOptions {
  env?: Environment
  channels?: readonly Channel[]
  retry?: RetryPlan
  policy?: Partial<Policy>
  hosts?: readonly Host[]
  store?: Store
  sendWithinMs?: number
  rateLimitClock?: Clock
  claims?: ClaimLimits
  database?: Database
  subscriptionIdsOf?: (owner: string) => Promise<readonly string[]>
  /** Replacement servers by the origin of the real service. */
  standIns?: Readonly<Record<string, string>>
}

const oneHost: Host = { id: 3, key: 'db', name: 'Database', host: 'db:8123', group: 'prod', tags: ['eu'] }

/** Opens delivery with memory stores, or with those of the test. */
export const openDeliveryFixture = async (chosen: FixtureOptions = {}): Promise<DeliveryFixture> => {
  const { channels, retry = shortRetryPlan, hosts = [oneHost], sendWithinMs = 2_000, standIns = {} } = chosen
  const env: Environment = resolveFileVariables({ ...chosen.env })
  // As in the product, file variables are resolved before the environment is frozen.
  freezeEnvironment(env)
  await using opening = new AsyncDisposableStack()
  const lines: string[] = []
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => lines.push(line) }))
  const store = chosen.store ?? opening.use(await openStore({ env: {}, busIsShared: false }))
  const policy: Policy = { ...testPolicy, ...chosen.policy }
  // Delivery only requests the host list.
  const queryClient = {
    hosts: async () => [...hosts],
    objectChanges: async () => ({ changes: [], isEnabled: false, problem: null }),
  } as Partial<ServiceClient<typeof query>> as ServiceClient<typeof query>
  const delivery = opening.use(
    await openDelivery({
      env,
      store,
      net: withShortTimeouts(opening.use(openNet({ env })), { timeoutMs: sendWithinMs, standIns }),
      ...(chosen.rateLimitClock && { rateLimitClock: chosen.rateLimitClock }),
      telemetry: telemetry.of('alert-dispatcher'),
      query: queryClient,
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
    output: async () => [...lines, await telemetry.metrics.metrics()].join('\n'),
    notify: async (...notifications) => {
      const [first] = notifications
      if (!first) return
      const outbox = notifications.map(toOutboxMessage)
      await store.update(`test:${first.episode}`, z.number(), (count = 0) => ({ value: count + 1, outbox }))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

interface ShortTimeouts {
  timeoutMs: number
  standIns: Readonly<Record<string, string>>
}

/** Returns network access with shorter timeouts, which redirects requests to the servers of the test. */
const withShortTimeouts = (net: Net, { timeoutMs, standIns }: ShortTimeouts): Net => {
  const redirect = (url: string | URL): string => {
    const { origin, href } = new URL(url)
    const standIn = standIns[origin]
    return standIn === undefined ? href : standIn + href.slice(origin.length)
  }
  return {
    ...net,
    trusted: (url, outgoing) => net.trusted(redirect(url), { ...outgoing, timeoutMs }),
    guarded: (purpose) => (url, outgoing) => net.guarded(purpose)(redirect(url), { ...outgoing, timeoutMs }),
    mail: {
      ...net.mail,
      trusted: (server, signal) => net.mail.trusted(server, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])),
    },
  }
}
