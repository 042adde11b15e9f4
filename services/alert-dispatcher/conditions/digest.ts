import { z } from 'zod'
import { Notice } from '../notice.ts'

export const digestKey = 'alerts:digest'

/** What one message can tell. */
export const mostGathered = 500

/** Notices that wait for their window to end, one for each episode. */
export const DigestRecord = z.object({
  startedAtMs: z.number().int(),
  gathered: z.array(z.object({ notice: Notice, recovered: z.boolean() })).max(mostGathered),
})
export type DigestRecord = z.infer<typeof DigestRecord>

/** What becomes of a notice: it waits here, or it goes on its way at once. */
export interface Gathering {
  record: DigestRecord | undefined
  passes: boolean
}

/**
 * Takes a notice in, or lets it pass: critical ones, those of a full digest, and recoveries of what was told before. A recovery
 * within the window of its fire is not told by itself. The same notice again changes nothing.
 */
export const gather = (record: DigestRecord | undefined, notice: Notice): Gathering => {
  const gathered = record?.gathered ?? []
  const known = gathered.find((entry) => entry.notice.episode === notice.episode)
  const others = gathered.filter((entry) => entry !== known)
  // The window begins with the decision, however long the notice was on its way.
  const startedAtMs = record?.startedAtMs ?? notice.atMs
  if (known && known.notice.sequence >= notice.sequence) return { record, passes: false }
  if (notice.kind === 'recover') {
    if (known?.notice.kind !== 'fire') return { record: kept(startedAtMs, others), passes: true }
    // Takes the sequence over, so that the same recovery again is known.
    const told = { ...known.notice, sequence: notice.sequence, isUnseen: notice.isUnseen }
    return { record: { startedAtMs, gathered: [...others, { notice: told, recovered: true }] }, passes: false }
  }
  const goesAlone = notice.severity === 'critical' || notice.kind === 'digest' || notice.kind === 'test'
  if (goesAlone || others.length >= mostGathered) return { record: kept(startedAtMs, others), passes: true }
  // A reminder of a fire that nobody was told of yet is still that fire: its recovery must not be told alone.
  const latest = known?.notice.kind === 'fire' ? { ...notice, kind: known.notice.kind } : notice
  return { record: { startedAtMs, gathered: [...others, { notice: latest, recovered: false }] }, passes: false }
}

const kept = (startedAtMs: number, gathered: DigestRecord['gathered']): DigestRecord | undefined =>
  gathered.length === 0 ? undefined : { startedAtMs, gathered }

interface Flushing {
  windowMs: number
  nowMs: number
  /** Names the digest as an episode of its own. */
  episode: string
  /** Of what must still wait, such as that of a host in maintenance. */
  mustWait: (notice: Notice) => boolean
}

/** The digest of a window that has ended and what goes on waiting; undefined while there is nothing to tell. */
export const flush = (
  record: DigestRecord | undefined,
  { windowMs, nowMs, episode, mustWait }: Flushing,
): { record: DigestRecord | undefined; notice: Notice } | undefined => {
  if (!record) return undefined
  // A clock that was set back must not make the window longer.
  const isOver = nowMs - record.startedAtMs >= windowMs || record.startedAtMs > nowMs
  const telling = record.gathered.filter(({ notice }) => !mustWait(notice))
  if (!isOver || telling.length === 0) return undefined
  const waiting = record.gathered.filter(({ notice }) => mustWait(notice))
  return { record: kept(record.startedAtMs, waiting), notice: digestOf(telling, record.startedAtMs, nowMs, episode) }
}

const digestOf = (telling: DigestRecord['gathered'], startedAtMs: number, nowMs: number, episode: string): Notice => ({
  id: `${episode}:0`,
  kind: 'digest',
  episode,
  sequence: 0,
  hostKey: null,
  source: null,
  ruleId: 'digest',
  title: telling.length === 1 ? '1 condition' : `${telling.length} conditions`,
  severity: 'warning',
  value: telling.length,
  threshold: null,
  unit: 'count',
  offenders: [],
  runbook: '',
  sinceMs: Math.min(startedAtMs, nowMs),
  atMs: nowMs,
  reason: 'the digest window has ended',
  gathered: telling.map(({ notice: { episode, hostKey, source, ruleId, title, severity, isUnseen }, recovered }) => ({
    episode,
    hostKey,
    source,
    ruleId,
    title,
    severity,
    recovered,
    isUnseen,
  })),
})
