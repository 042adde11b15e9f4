import { z } from 'zod'
import { Finding } from '#proto/finding.ts'
import { type Insight, InsightScan } from '#proto/insights.ts'
import { shortenText } from '#shared/text/strings.ts'
import { type Clock, computeAgeMs, recordInstant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'

const Run = z.object({ startedAtMs: z.number(), token: z.string(), run: InsightScan.nullable() })
const WorstFindings = z.object({ hosts: z.record(z.string(), Finding.extend({ atMs: z.number() })) })

const createRunKey = (hostKey: string): string => `insights/run/${hostKey}`
const worstKey = 'insights/worst'
const maxTitleLength = 60
/** Maximum age of a returned finding, in milliseconds. */
const maxFindingAgeMs = 24 * 3_600_000

/** Returns the last scan of a host; null if there was none. */
export const readLastRun = async (store: Store, hostKey: string): Promise<InsightScan | null> =>
  (await store.get(createRunKey(hostKey), Run))?.run ?? null

interface ScanClaim {
  hostKey: string
  clock: Clock
  token: string
  /** Minimum time since the start of the last scan. */
  throttleMs: number
}

/** Claims a scan of the host unless the last one is too recent. Returns whether this caller may scan. */
export const claimRun = async (store: Store, { hostKey, clock, token, throttleMs }: ScanClaim): Promise<boolean> => {
  const claimed = await store.update(createRunKey(hostKey), Run, (current) =>
    current && getRunAgeMs(current.startedAtMs, clock) < throttleMs
      ? { value: current }
      : { value: { startedAtMs: recordInstant(clock), token, run: current?.run ?? null } },
  )
  return claimed?.token === token
}

/** Returns the age of a scan. A start in the future means that the clock was set back; the age is then infinite. */
const getRunAgeMs = (startedAtMs: number, clock: Clock): number => {
  const sinceMs = computeAgeMs(clock, startedAtMs)
  return sinceMs < 0 ? Number.POSITIVE_INFINITY : sinceMs
}

/** Records the result of a scan. A null result means that it failed, so that the next scan may start immediately. */
export const finishRun = async (
  store: Store,
  hostKey: string,
  token: string,
  run: InsightScan | null,
): Promise<void> => {
  await store.update(createRunKey(hostKey), Run, (current) => {
    const previous = current ?? { startedAtMs: 0, token, run: null }
    return { value: run ? { ...previous, run } : { ...previous, startedAtMs: 0 } }
  })
}

/** Stores the worst undismissed critical or warning finding of a host for host lists. Without one, clears the entry. */
export const storeWorstFinding = async (store: Store, hostKey: string, insights: readonly Insight[]): Promise<void> => {
  const worst =
    insights.find(({ severity, dismissed }) => severity === 'critical' && !dismissed) ??
    insights.find(({ severity, dismissed }) => severity === 'warning' && !dismissed)
  await store.update(worstKey, WorstFindings, (current) => {
    const { [hostKey]: _before, ...others } = current?.hosts ?? {}
    if (!worst || worst.severity === 'info') return { value: { hosts: others } }
    const finding = { severity: worst.severity, title: shortenText(worst.title, maxTitleLength), atMs: worst.foundAtMs }
    return { value: { hosts: { ...others, [hostKey]: finding } } }
  })
}

/** Returns the worst finding of each host from the last day. */
export const readWorstFindings = async (store: Store, nowMs: number): Promise<(Finding & { hostKey: string })[]> =>
  Object.entries((await store.get(worstKey, WorstFindings))?.hosts ?? {}).flatMap(([hostKey, { atMs, ...finding }]) =>
    nowMs - atMs < maxFindingAgeMs ? [{ hostKey, ...finding }] : [],
  )
