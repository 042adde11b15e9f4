import { alerts } from '#proto/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { openBus } from '#shared/bus/open.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { startWithTickInterval } from '../../alert-dispatcher/service.ts'
import { retryUntil } from '../fetch-json.ts'
import type { DispatcherBackend } from './dispatcher-backends.ts'
import { type FakeMonitoredHosts, serveFakeQuery } from './fake-monitored-hosts.ts'

const tickEveryMs = 25

interface Options {
  place: DispatcherBackend
  clock: Clock
  env: Environment
  watched: FakeMonitoredHosts
  /** Number of dispatchers. Default: one. */
  count?: number | undefined
}

/** Dispatchers on the same servers, with a fake `query` service that returns the values of the test. */
export interface Dispatchers extends AsyncDisposable {
  readonly alerts: ServiceClient<typeof alerts>
  call(): CallContext
  /** Resolves when a tick that started after this call has ended. */
  ticked(): Promise<void>
  /** Returns everything that the dispatchers have logged. */
  logged(): string
}

export const startDispatchers = async ({ place, clock, env, watched, count = 1 }: Options): Promise<Dispatchers> => {
  await using opening = new AsyncDisposableStack()
  const lines: string[] = []
  const leases = { ended: 0 }
  const variables = { ...place.env, SVC_HEALTH_SWEEP_ENABLED: 'true', LOG_LEVEL: 'info', ...env }
  const facts = { version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const bus = async (caller: 'gateway' | 'query' | 'alert-dispatcher', instance: string) =>
    opening.use(await openBus({ hub: place.hub, caller, instance, version: 'test', clock }))

  opening.use(await serveFakeQuery(await bus('query', 'query'), watched))
  for (let index = 0; index < count; index++) {
    const instance = `dispatcher-${index}`
    const telemetry = await openTelemetry(variables, { ...facts, instance }, { write: (line) => lines.push(line) })
    const context = {
      env: variables,
      bus: await bus('alert-dispatcher', instance),
      store: createCountingStore(opening.use(await place.openStore()), leases),
      openQueue: () => place.openQueue(instance),
      net: opening.use(openNet({ env: variables })),
      telemetry: opening.use(telemetry).of('alert-dispatcher'),
      clock,
      readiness: openReadiness(),
    }
    opening.use(await startWithTickInterval(context, tickEveryMs))
  }
  const gateway = await bus('gateway', 'gateway')
  const running = opening.move()
  return {
    alerts: gateway.client(alerts),
    call: () => ({
      identity: { kind: 'service', subject: 'gateway', features: 'all' },
      deadline: clock.elapsedMs() + 60_000,
      signal: new AbortController().signal,
      priority: 'sweep',
    }),
    async ticked() {
      // The first tick to end may have started before this call, so a second one is needed.
      const wanted = leases.ended + 2
      await retryUntil(
        async () => leases.ended,
        (ended) => ended >= wanted,
      )
    },
    logged: () => lines.join(''),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Returns a store that counts the ended leases of ticks and sweeps. */
const createCountingStore = (store: Store, leases: { ended: number }): Store => ({
  get connected() {
    return store.connected
  },
  get: (key, schema) => store.get(key, schema),
  update: (key, schema, step, fence) => store.update(key, schema, step, fence),
  updateNew: (key, schema, step) => store.updateNew(key, schema, step),
  updateTogether: (keys, step) => store.updateTogether(keys, step),
  getAll: (keys, schema) => store.getAll(keys, schema),
  outbox: store.outbox,
  async lease(name, lengthMs) {
    const lease = await store.lease(name, lengthMs)
    return (
      lease && {
        fence: lease.fence,
        renew: (ms) => lease.renew(ms),
        async [Symbol.asyncDispose]() {
          await lease[Symbol.asyncDispose]()
          leases.ended += 1
        },
      }
    )
  },
  async [Symbol.asyncDispose]() {},
})
