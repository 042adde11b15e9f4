import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, maybeWords, understood } from './fields.ts'

/** A pending check is retried and maintenance is planned, so neither fires. */
const states: Readonly<Record<number, readonly [EventStatus, EventSeverity]>> = {
  0: ['firing', 'critical'],
  1: ['resolved', 'info'],
  2: ['info', 'info'],
  3: ['info', 'info'],
}

const Webhook = z.looseObject({
  msg: maybeWords,
  monitor: z
    .looseObject({ id: maybeWords, name: maybeWords, type: maybeWords, url: maybeWords, hostname: maybeWords })
    .nullish(),
  heartbeat: z
    .looseObject({ monitorID: maybeWords, status: z.int().nullish(), msg: maybeWords, time: instant })
    .nullish(),
})

/** Monitors without an address have this one. */
const noAddress = 'https://'

/** The webhook of Uptime Kuma. A test and a certificate warning come without a heartbeat. */
export const uptimeKuma: Adapter = {
  id: 'uptime-kuma',
  recognises: ({ heartbeat, monitor, ...others }) =>
    monitor !== undefined && heartbeat !== undefined && ('msg' in others || isSent(monitor)),
  read: (sent) => {
    const { msg: text, monitor, heartbeat } = understood(Webhook, sent)
    const isCertificate = !heartbeat && monitor != null
    const [status, severity] = isCertificate ? (['firing', 'warning'] as const) : (states[heartbeat?.status ?? 3] ?? [])
    const id = monitor?.id ?? heartbeat?.monitorID ?? null
    const address = monitor?.url === noAddress ? null : monitor?.url
    return [
      draftOfFields('uptime-kuma', sent, {
        externalId: id,
        dedupKey: id === null ? null : `${isCertificate ? 'certificate' : 'monitor'}:${id}`,
        status: status ?? 'info',
        severity: severity ?? null,
        resource: firstOf(address, monitor?.hostname),
        title: firstOf(monitor?.name, text),
        body: firstOf(heartbeat?.msg, text),
        labels: { type: monitor?.type },
        occurredAt: heartbeat?.time ?? null,
        url: address ?? null,
      }),
    ]
  },
}
