import { randomUUID } from 'node:crypto'
import { actionAudited, type HostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { Clock } from '#shared/time/clock.ts'

/** A call of a tool that has ended; with which arguments is its caller's alone. */
export interface Called {
  tool: string
  call: Call
  /** Name of the host that was asked; null when it came to none. */
  host: HostOnRecord | null
  /** `failed` is a defect of ours, everything else that told nothing is `refused`. */
  result: 'done' | 'refused' | 'failed'
  tookMs: number
}

/** Tells the keeper of the audit who called which tool, on which host. */
export const openAudit =
  (bus: Bus, clock: Clock) =>
  ({ tool, call, host, result, tookMs }: Called): void => {
    const { kind, subject } = call.identity
    bus.emit(actionAudited, {
      id: randomUUID(),
      atMs: Math.round(clock.now() - tookMs),
      actor: { kind, subject },
      action: 'call-tool',
      host,
      target: { tool },
      result,
      detail: null,
      tookMs,
      requestId: null,
    })
  }
