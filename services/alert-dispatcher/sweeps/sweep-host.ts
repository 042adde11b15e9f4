import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Reading } from '#proto/rules.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { HostRecord, followed, hostRecordKey } from '../conditions/condition.ts'
import { type Decision, decide } from '../conditions/decide.ts'
import { summaryOf, type HostSummary } from '../conditions/fleet-record.ts'
import type { Measured } from '../conditions/judge.ts'
import type { Watched } from '../conditions/watched.ts'
import { asMessage } from '../notice.ts'
import { type Parts, ownCall } from '../parts.ts'
import type { Policy } from '../policy.ts'
import type { Turn } from '../sweep-lease.ts'

/** A probe of 2 s and three rounds of statements at their time limit. */
const measuredWithinMs = 45_000

/** What decides which rules are asked: the ids of conditions. The rest of a record is long. */
const KnownConditions = z.object({ conditions: z.record(z.string(), z.unknown()) })

/** What one sweep does everywhere. */
export interface Sweeping {
  turn: Turn
  policy: Policy
  watched: readonly Watched[]
  /** How many there were before. */
  number: number
  missed: Missed
  /** Whether a host's record may say of conditions, as far as that is known without reading it. */
  mayHaveConditions(hostKey: string): boolean
  nowMs: number
}

export interface SweptHost {
  decision: Decision
  summary: HostSummary
}

/** Measures one host, and decides on it in one write together with what is to be told. */
export const sweepHost = async (parts: Parts, hostKey: string, sweeping: Sweeping): Promise<SweptHost> => {
  const { watched, number, mayHaveConditions } = sweeping
  const isDue = ({ everySweeps }: Watched) => number % everySweeps === 0
  const isToldByRecord = !watched.every(isDue) && mayHaveConditions(hostKey)
  const known = isToldByRecord ? await parts.store.get(hostRecordKey(hostKey), KnownConditions) : undefined
  const asked = watched.filter((rule) => isDue(rule) || known?.conditions[rule.id])
  const measured = await measure(parts, hostKey, asked, sweeping)
  const decision = await decideOn(parts, hostKey, sweeping, { watched, asked, measured })
  return { decision, summary: summaryOf(decision.record, measured.uptimeSeconds === null) }
}

/** A host that is no longer in the list: its conditions end, and its record when nobody waits to hear of that. */
export const leaveHost = async (parts: Parts, hostKey: string, sweeping: Sweeping): Promise<SweptHost> => {
  const decision = await decideOn(parts, hostKey, sweeping, { watched: [], asked: [], measured: nothing })
  return { decision, summary: summaryOf(decision.record, false) }
}

const nothing: Measured = { readings: new Map(), metrics: new Map(), uptimeSeconds: null }

const decideOn = async (
  { store, clock, observe }: Parts,
  hostKey: string,
  { turn, policy, nowMs }: Sweeping,
  what: Pick<Parameters<typeof decide>[1], 'watched' | 'asked' | 'measured'>,
): Promise<Decision> => {
  let decision: Decision | undefined
  await store.update(
    hostRecordKey(hostKey),
    HostRecord,
    (before) => {
      decision = decide(before && followed(before, clock), { ...what, hostKey, policy, nowMs, newEpisode: randomUUID })
      const isEmpty = what.watched.length === 0 && Object.keys(decision.record.conditions).length === 0
      return { value: isEmpty ? undefined : decision.record, outbox: decision.notices.map(asMessage) }
    },
    turn.fence,
  )
  if (!decision) throw new Error('a store must make the step that it is given')
  observe.told(decision)
  return decision
}

/** Whatever keeps the host from being measured makes its rules unknown, and their conditions stay as they are. */
const measure = async (
  parts: Parts,
  hostKey: string,
  asked: readonly Watched[],
  { turn: { signal }, missed }: Sweeping,
): Promise<Measured> => {
  const measured = asked.filter(({ allOf }) => allOf.length === 0)
  const rules = measured.flatMap(({ id, metric }) => (metric === null ? [id] : []))
  const metrics = [...new Set(measured.flatMap(({ metric }) => metric ?? []))]
  try {
    const call = ownCall(parts, measuredWithinMs, signal)
    const answer = await parts.query.evaluateRules({ hostKey, rules, metrics }, call)
    return {
      readings: byId(answer.readings),
      metrics: byId(answer.metrics),
      uptimeSeconds: answer.uptimeSeconds,
    }
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof ServiceError ? beginningOf(error.message, 300) : 'it could not be measured'
    missed.add('measured', hostKey, error)
    const none = (id: string): Reading => ({
      ...unmeasured,
      id,
      reason,
    })
    return { readings: byId(rules.map(none)), metrics: byId(metrics.map(none)), uptimeSeconds: null }
  }
}

const unmeasured = { value: null, samples: null, warning: null, critical: null, offenders: [] }

const byId = (readings: readonly Reading[]): ReadonlyMap<string, Reading> =>
  new Map(readings.map((reading) => [reading.id, reading]))

/** Hosts that a line of the log names. */
const namedHosts = 10

/** Hosts that a sweep could not measure or decide on. */
interface Missed {
  add(what: 'measured' | 'swept', hostKey: string, error: unknown): void
  /** Whether every host was decided on. */
  areAllDecided(): boolean
  /** Logs them: one line for each cause, since what keeps one host from being measured mostly keeps all of them. */
  tell(): void
}

export const openMissed = (log: Logger): Missed => {
  const causes = new Map<string, { what: string; error: unknown; hosts: string[] }>()
  return {
    add(what, hostKey, error) {
      const cause = `${what} ${String(error)}`
      const known = causes.get(cause) ?? { what, error, hosts: [] }
      known.hosts.push(hostKey)
      causes.set(cause, known)
    },
    areAllDecided: () => [...causes.values()].every(({ what }) => what !== 'swept'),
    tell() {
      for (const { what, error, hosts } of causes.values()) {
        const facts = { err: error, hosts: hosts.length, named: hosts.slice(0, namedHosts) }
        // A host that cannot be measured is unknown, as its rules say; one that cannot be decided on is a defect.
        log[what === 'swept' ? 'error' : 'warn'](facts, `hosts could not be ${what}`)
      }
    },
  }
}
