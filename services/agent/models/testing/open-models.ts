import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { CallContext, Identity } from '#proto/call.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { openModels } from '../models.ts'

/** Returns a call of a user, or another kind of identity, with a deadline of one minute. */
export const createUserCall = (kind: Identity['kind'] = 'user', subject = 'ada'): CallContext => ({
  identity: { kind, subject, features: 'all' },
  deadline: performance.now() + 60_000,
  signal: new AbortController().signal,
  priority: 'person',
})

/** Opens the language models with a test clock, and records their log lines. */
export const openTestModels = async (env: Record<string, string>) => {
  const logged: string[] = []
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs, elapsedMs: () => clock.nowMs }
  const scope = new AsyncDisposableStack()
  onTestFinished(() => scope.disposeAsync())
  const store = scope.use(await openStore({ env: {}, busIsShared: false }))
  const net = scope.use(openNet({ env }))
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const models = scope.use(openModels({ env, net, clock, store, log, tracer: noopTracers.tracer('agent') }))
  return { models, store, clock, logged, env }
}
