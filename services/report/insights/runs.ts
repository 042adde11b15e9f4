import { z } from 'zod'
import { Finding } from '#proto/finding.ts'
import { type Insight, InsightRun } from '#proto/insights.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { type Clock, ageMs, instant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'

const Run = z.object({ startedAtMs: z.number(), token: z.string(), run: InsightRun.nullable() })
const Worst = z.object({ hosts: z.record(z.string(), Finding.extend({ atMs: z.number() })) })

const keyOf = (hostKey: string): string => `insights/run/${hostKey}`
const worstKey = 'insights/worst'
const longestTitle = 60
/** What was found longer ago is not said of a host any more. */
const freshMs = 24 * 3_600_000

/** The last run of a host. */
export const lastRun = async (store: Store, hostKey: string): Promise<InsightRun | null> =>
  (await store.get(keyOf(hostKey), Run))?.run ?? null

interface Claim {
  hostKey: string
  clock: Clock
  token: string
  /** A run that began within this time is not repeated. */
  throttleMs: number
}

/** Begins a run unless another began a short while ago; says whether it did. */
export const beginRun = async (store: Store, { hostKey, clock, token, throttleMs }: Claim): Promise<boolean> => {
  const begun = await store.update(keyOf(hostKey), Run, (current) =>
    current && runAgeMs(current.startedAtMs, clock) < throttleMs
      ? { value: current }
      : { value: { startedAtMs: instant(clock), token, run: current?.run ?? null } },
  )
  return begun?.token === token
}

/** Time since a run began; without end for one that seems to begin in the future, since the clock was set back meanwhile. */
const runAgeMs = (startedAtMs: number, clock: Clock): number => {
  const sinceMs = ageMs(clock, startedAtMs)
  return sinceMs < 0 ? Number.POSITIVE_INFINITY : sinceMs
}

/** Puts the result of a run on record; without one, the next may begin at once. */
export const endRun = async (store: Store, hostKey: string, token: string, run: InsightRun | null): Promise<void> => {
  await store.update(keyOf(hostKey), Run, (current) => {
    const standing = current ?? { startedAtMs: 0, token, run: null }
    return { value: run ? { ...standing, run } : { ...standing, startedAtMs: 0 } }
  })
}

/** Remembers what is worst about a host, for lists of hosts. */
export const rememberWorst = async (store: Store, hostKey: string, insights: readonly Insight[]): Promise<void> => {
  const worst =
    insights.find(({ severity, dismissed }) => severity === 'critical' && !dismissed) ??
    insights.find(({ severity, dismissed }) => severity === 'warning' && !dismissed)
  await store.update(worstKey, Worst, (current) => {
    const { [hostKey]: _before, ...others } = current?.hosts ?? {}
    if (!worst || worst.severity === 'info') return { value: { hosts: others } }
    const finding = { severity: worst.severity, title: beginningOf(worst.title, longestTitle), atMs: worst.foundAtMs }
    return { value: { hosts: { ...others, [hostKey]: finding } } }
  })
}

/** What is worst about each host that was looked at within a day. */
export const worstOfHosts = async (store: Store, nowMs: number): Promise<(Finding & { hostKey: string })[]> =>
  Object.entries((await store.get(worstKey, Worst))?.hosts ?? {}).flatMap(([hostKey, { atMs, ...finding }]) =>
    nowMs - atMs < freshMs ? [{ hostKey, ...finding }] : [],
  )
