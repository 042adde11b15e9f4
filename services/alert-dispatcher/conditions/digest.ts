import { z } from 'zod'
import { Notification } from '../notification.ts'

export const digestRecordKey = 'alerts:digest'

/** Maximum number of conditions in one digest. */
export const maxDigestConditions = 500

/** Notifications that wait for the digest window to end, one per episode. */
export const DigestRecord = z.object({
  startedAtMs: z.number().int(),
  gathered: z.array(z.object({ notification: Notification, recovered: z.boolean() })).max(maxDigestConditions),
})
export type DigestRecord = z.infer<typeof DigestRecord>

/** Result of adding a notification: it waits in the digest or, if `passes` is set, is sent on its own. */
export interface DigestAdditionResult {
  record: DigestRecord | undefined
  passes: boolean
}

/**
 * Adds a notification to the digest. Critical notifications that are not overdue and recoveries of notified conditions
 * pass, to be sent on their own; while the digest is full, every new notification passes. The recovery of a condition
 * that waits in the digest is merged with its entry. Adding the same notification again changes nothing.
 */
export const addToDigest = (record: DigestRecord | undefined, notification: Notification): DigestAdditionResult => {
  const gathered = record?.gathered ?? []
  const known = gathered.find((entry) => entry.notification.episode === notification.episode)
  const others = gathered.filter((entry) => entry !== known)
  // The window starts when the notification was decided, not when it reached the digest.
  const startedAtMs = record?.startedAtMs ?? notification.atMs
  if (known && known.notification.sequence >= notification.sequence) return { record, passes: false }
  if (notification.kind === 'recover') {
    if (known?.notification.kind !== 'fire') return { record: toRecord(startedAtMs, others), passes: true }
    // The merged entry has the sequence number of the recovery, so that a repeated recovery is ignored.
    const merged = { ...known.notification, sequence: notification.sequence, isUnseen: notification.isUnseen }
    return { record: { startedAtMs, gathered: [...others, { notification: merged, recovered: true }] }, passes: false }
  }
  const { kind, severity, isOverdue } = notification
  const goesAlone = (severity === 'critical' && !isOverdue) || kind === 'digest' || kind === 'test'
  if (goesAlone || others.length >= maxDigestConditions) return { record: toRecord(startedAtMs, others), passes: true }
  // A reminder replaces a waiting firing notification but keeps its kind, so that the recovery is still merged with it.
  const latest = known?.notification.kind === 'fire' ? { ...notification, kind: known.notification.kind } : notification
  return { record: { startedAtMs, gathered: [...others, { notification: latest, recovered: false }] }, passes: false }
}

const toRecord = (startedAtMs: number, gathered: DigestRecord['gathered']): DigestRecord | undefined =>
  gathered.length === 0 ? undefined : { startedAtMs, gathered }

/** How long overdue notifications of all hosts are collected: longer than one tick takes, shorter than two ticks. */
const overdueWindowMs = 5_000

interface FlushOptions {
  /** The digest window; 0 if the digest is disabled. */
  windowMs: number
  nowMs: number
  /** Episode id of the digest itself. */
  episode: string
  /** Returns whether an entry must keep waiting, for example during maintenance. */
  mustWait: (notification: Notification) => boolean
}

/** Returns the digest of an ended window and the remaining record; undefined if there is nothing to send. */
export const flushEndedDigest = (
  record: DigestRecord | undefined,
  { windowMs, nowMs, episode, mustWait }: FlushOptions,
): { record: DigestRecord | undefined; notification: Notification } | undefined => {
  if (!record) return undefined
  const isOverdue = record.gathered.some(({ notification }) => notification.isOverdue)
  const endsAfterMs = isOverdue ? overdueWindowMs : windowMs
  // A clock that was set back must not extend the window.
  const isOver = nowMs - record.startedAtMs >= endsAfterMs || record.startedAtMs > nowMs
  const due = record.gathered.filter(({ notification }) => !mustWait(notification))
  if (!isOver || due.length === 0) return undefined
  const waiting = record.gathered.filter(({ notification }) => mustWait(notification))
  return {
    record: toRecord(record.startedAtMs, waiting),
    notification: {
      ...buildDigest(due, record.startedAtMs, nowMs, episode),
      reason: isOverdue ? 'firing since before alerting was enabled' : 'the digest window ended',
    },
  }
}

const buildDigest = (
  due: DigestRecord['gathered'],
  startedAtMs: number,
  nowMs: number,
  episode: string,
): Omit<Notification, 'reason'> => ({
  id: `${episode}:0`,
  kind: 'digest',
  episode,
  sequence: 0,
  hostKey: null,
  source: null,
  ruleId: 'digest',
  title: due.length === 1 ? '1 condition' : `${due.length} conditions`,
  severity: 'warning',
  value: due.length,
  threshold: null,
  unit: 'count',
  offenders: [],
  runbook: '',
  sinceMs: Math.min(startedAtMs, nowMs),
  atMs: nowMs,
  gathered: due.map(({ notification: { episode, hostKey, source, ruleId, title, severity, isUnseen }, recovered }) => ({
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
