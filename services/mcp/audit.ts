import { randomUUID } from 'node:crypto'
import { actionAudited } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { Clock } from '#shared/clock.ts'
import type { Outcome } from './call-tool.ts'

/** Tells the keeper of the audit who called which tool; what was asked is theirs. */
export const openAudit =
  (bus: Bus, clock: Clock) =>
  (tool: string, { identity: { kind, subject } }: Call, result: Outcome): void =>
    bus.emit(actionAudited, {
      id: randomUUID(),
      atMs: clock.now(),
      actor: { kind, subject },
      action: 'call-tool',
      host: null,
      target: { tool },
      result,
      detail: null,
      tookMs: null,
      requestId: null,
    })
