import { randomUUID } from 'node:crypto'
import { type AuditRecord, actionAudited, type AuditHostName } from '#proto/audit.ts'
import type { CallContext } from '#proto/call.ts'
import { errorStatuses, ServiceError } from '#proto/errors.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { Clock } from '#shared/time/clock.ts'
import { wholeNumberSetting } from '#shared/config/setting.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { AuditFilter, AuditStore } from './store.ts'

/** Settings of the audit log. */
export const auditSettings = {
  SVC_AUDIT_DAYS: wholeNumberSetting(365, 'Retention of audit records and of notes about incidents, in days.', {
    min: 1,
    max: 3_650,
  }),
} as const

/** Audit actions for acknowledging and dismissing alerts, and for undoing both. */
export const silenceActions = {
  ack: { done: 'acknowledge-alert', undone: 'unacknowledge-alert' },
  dismissal: { done: 'dismiss-alert', undone: 'restore-alert' },
} as const

/** An action to record, without its result. */
export interface AuditedAction {
  action: string
  host: AuditHostName | null
  target: Readonly<Record<string, string>>
}

/** The request that an action belongs to. */
export interface AuditContext {
  call: Pick<CallContext, 'identity'>
  requestId: string
}

/** The audit log: actor, action, time and result. */
export interface AuditLog extends AsyncDisposable {
  /**
   * Records the action, runs it, then records the result. If the first record cannot be written, the action is not run
   * and this throws `unavailable`.
   */
  of<T>(action: AuditedAction, context: AuditContext, act: () => Promise<T>): Promise<T>
  list(filter: AuditFilter): Promise<AuditRecord[]>
  prune(beforeMs: number): Promise<number>
}

interface AuditDeps {
  store: AuditStore
  bus: Bus
  clock: Clock
  telemetry: Telemetry
}

const maxDetailLength = 500

/** Opens the audit log for actions of the gateway and for records that other services publish. */
export const openAuditLog = async ({ store, bus, clock, telemetry: { log } }: AuditDeps): Promise<AuditLog> => {
  const save = (record: AuditRecord): void => {
    store.put(record).catch((error: unknown) => log.error({ err: error, action: record.action }, 'audit record failed'))
  }
  const subscription = await bus.on(actionAudited, save)
  return {
    list: (filter) => store.list(filter),
    prune: (beforeMs) => store.prune(beforeMs),
    async of(action, { call, requestId }, act) {
      const [atMs, beganMs] = [clock.now(), clock.elapsedMs()]
      const tookMs = () => Math.round(clock.elapsedMs() - beganMs)
      const { kind, subject } = call.identity
      const started: AuditRecord = {
        ...action,
        target: { ...action.target },
        id: randomUUID(),
        atMs,
        actor: { kind, subject },
        result: 'started',
        detail: null,
        tookMs: null,
        requestId,
      }
      await store.put(started)
      try {
        const done = await act()
        save({ ...started, result: 'done', tookMs: tookMs() })
        log.info({ action: action.action, host: action.host, subject, result: 'done' }, 'action succeeded')
        return done
      } catch (error) {
        const result = isRefusal(error) ? 'refused' : 'failed'
        save({ ...started, result, detail: messageOf(error), tookMs: tookMs() })
        log.info({ action: action.action, host: action.host, subject, result }, 'action failed')
        throw error
      }
    },
    [Symbol.asyncDispose]: async () => subscription[Symbol.asyncDispose](),
  }
}

const isRefusal = (error: unknown): boolean => error instanceof ServiceError && errorStatuses[error.code] < 500

const messageOf = (error: unknown): string =>
  error instanceof ServiceError ? error.message.slice(0, maxDetailLength) : 'internal error'
