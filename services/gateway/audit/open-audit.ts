import { randomUUID } from 'node:crypto'
import { type AuditRecord, actionAudited, type HostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import { errorStatuses, ServiceError } from '#proto/errors.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { Clock } from '#shared/time/clock.ts'
import { whole } from '#shared/config/setting.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { AuditFilter, AuditStore } from './store.ts'

/** How long it is remembered who did what. */
export const auditSettings = {
  SVC_AUDIT_DAYS: whole(365, 'Age in days at which audit records are removed.', { min: 1, max: 3_650 }),
} as const

/** What the audit calls what operators say to conditions, and its taking back. */
export const silenceActions = {
  ack: { done: 'acknowledge-alert', undone: 'unacknowledge-alert' },
  dismissal: { done: 'dismiss-alert', undone: 'restore-alert' },
} as const

/** What is about to be done. */
export interface Deed {
  action: string
  host: HostOnRecord | null
  target: Readonly<Record<string, string>>
}

/** Whose request it is. */
export interface Asker {
  call: Pick<Call, 'identity'>
  requestId: string
}

/** Who did what, when, and what came of it. */
export interface Audit extends AsyncDisposable {
  /** Does it once it is on record, and adds the result; refuses with `unavailable` when no record can be made. */
  of<T>(deed: Deed, asked: Asker, act: () => Promise<T>): Promise<T>
  list(filter: AuditFilter): Promise<AuditRecord[]>
  prune(beforeMs: number): Promise<number>
}

interface Place {
  store: AuditStore
  bus: Bus
  clock: Clock
  telemetry: Telemetry
}

const longestDetail = 500

/** Keeps what passes through the gateway, and what other services tell of their own. */
export const openAudit = async ({ store, bus, clock, telemetry: { log } }: Place): Promise<Audit> => {
  const keep = (record: AuditRecord): void => {
    store
      .put(record)
      .catch((error: unknown) => log.error({ err: error, action: record.action }, 'action not on record'))
  }
  const told = await bus.on(actionAudited, keep)
  return {
    list: (filter) => store.list(filter),
    prune: (beforeMs) => store.prune(beforeMs),
    async of(deed, { call, requestId }, act) {
      const [atMs, beganMs] = [clock.now(), clock.elapsedMs()]
      const tookMs = () => Math.round(clock.elapsedMs() - beganMs)
      const { kind, subject } = call.identity
      const begun: AuditRecord = {
        ...deed,
        target: { ...deed.target },
        id: randomUUID(),
        atMs,
        actor: { kind, subject },
        result: 'begun',
        detail: null,
        tookMs: null,
        requestId,
      }
      await store.put(begun)
      try {
        const done = await act()
        keep({ ...begun, result: 'done', tookMs: tookMs() })
        log.info({ action: deed.action, host: deed.host, subject, result: 'done' }, 'action carried out')
        return done
      } catch (error) {
        const result = isRefusal(error) ? 'refused' : 'failed'
        keep({ ...begun, result, detail: sentenceOf(error), tookMs: tookMs() })
        log.info({ action: deed.action, host: deed.host, subject, result }, 'action not carried out')
        throw error
      }
    },
    [Symbol.asyncDispose]: async () => told[Symbol.asyncDispose](),
  }
}

const isRefusal = (error: unknown): boolean => error instanceof ServiceError && errorStatuses[error.code] < 500

const sentenceOf = (error: unknown): string =>
  error instanceof ServiceError ? error.message.slice(0, longestDetail) : 'something failed on our side'
