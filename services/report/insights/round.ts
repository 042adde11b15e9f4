import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { ageMs, instant } from '#shared/time/clock.ts'
import { hostByHost, ownCall, type Work } from '../work.ts'
import { insightStoreSettings } from '../stores/settings.ts'
import { generate, type Generating } from './generate.ts'

const lookEveryMs = 60_000

/** Sees once a minute which hosts have not been looked at for long; a round that fails is told once, and the next is near. */
export const openSchedule = (parts: Rounding, work: Work, everyMs = lookEveryMs): Disposable => {
  let isRunning = false
  let isFailing = false
  const tick = async (signal: AbortSignal): Promise<void> => {
    if (isRunning) return
    isRunning = true
    try {
      await round(parts, signal)
      if (isFailing) parts.log.info('rounds of insights succeed again')
      isFailing = false
    } catch (error) {
      if (!isFailing && !signal.aborted) parts.log.error({ err: error }, 'round of insights failed')
      isFailing = true
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => void work.run(tick), everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** When each host was last looked at by itself, whatever came of it. */
const Tried = z.object({ hosts: z.record(z.string(), z.number()) })
const triedKey = 'insights/tried'
const leaseName = 'insights:round'
/** Longer than a round takes; of two at once, each would still look at a host that the other has not begun with. */
const leaseMs = 15 * 60_000
const minuteMs = 60_000

/** What rounds are made with. */
interface Rounding extends Generating {
  env: Environment
}

/** Looks at every host whose time has come, of all processes in one; says at how many. */
export const round = async (parts: Rounding, signal: AbortSignal): Promise<number> => {
  const { store, clock, env } = parts
  const everyMs = read(insightStoreSettings, env).SVC_INSIGHTS_INTERVAL_MINUTES * minuteMs
  if (everyMs === 0) return 0
  await using lease = await store.lease(leaseName, leaseMs)
  if (!lease) return 0
  const due = await dueHosts(parts, everyMs, ownCall(parts, signal))
  await hostByHost(due, async (hostKey) => {
    signal.throwIfAborted()
    await store.update(triedKey, Tried, (tried) => ({
      value: { hosts: { ...tried?.hosts, [hostKey]: instant(clock) } },
    }))
    await look(parts, hostKey, ownCall(parts, signal))
  })
  return due.length
}

/** Hosts that answer and were not looked at within the interval; those that left the list are forgotten. */
const dueHosts = async ({ query, store, clock }: Rounding, everyMs: number, call: Call): Promise<string[]> => {
  const [hosts, states] = await Promise.all([query.hosts({}, call), query.hostStates({}, call)])
  const down = new Set(states.flatMap(({ key, status }) => (status === 'down' ? key : [])))
  const keys = hosts.map(({ key }) => key)
  const tried = await store.update(triedKey, Tried, (before) => ({
    value: { hosts: Object.fromEntries(Object.entries(before?.hosts ?? {}).filter(([key]) => keys.includes(key))) },
  }))
  return keys.filter((key) => {
    const atMs = tried?.hosts[key]
    if (down.has(key)) return false
    if (atMs === undefined) return true
    const sinceMs = ageMs(clock, atMs)
    // The clock may have been set back before this process began.
    return sinceMs < 0 || sinceMs >= everyMs
  })
}

/** One host that fails keeps no other from its turn. */
const look = async (parts: Rounding, hostKey: string, call: Call): Promise<void> => {
  try {
    await generate(parts, { hostKey, force: false }, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    parts.log.warn({ hostKey, code: error.code }, 'no insights of a host')
  }
}
