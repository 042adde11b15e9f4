import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'

/** Status and severity by heartbeat status: down, up, pending and maintenance. */
const states: Readonly<Record<number, readonly [EventStatus, EventSeverity]>> = {
  0: ['firing', 'critical'],
  1: ['resolved', 'info'],
  2: ['info', 'info'],
  3: ['info', 'info'],
}

const Webhook = z.looseObject({
  msg: optionalTextField,
  monitor: z
    .looseObject({
      id: optionalTextField,
      name: optionalTextField,
      type: optionalTextField,
      url: optionalTextField,
      hostname: optionalTextField,
    })
    .nullish(),
  heartbeat: z
    .looseObject({
      monitorID: optionalTextField,
      status: z.int().nullish(),
      msg: optionalTextField,
      time: timestampField,
    })
    .nullish(),
})

/** Placeholder URL of monitors without an address. */
const noAddress = 'https://'

/** The webhook of Uptime Kuma. Tests and certificate warnings have no heartbeat. */
export const uptimeKumaAdapter: EventAdapter = {
  id: 'uptime-kuma',
  recognizes: ({ heartbeat, monitor, ...others }) =>
    monitor !== undefined && heartbeat !== undefined && ('msg' in others || isJsonObject(monitor)),
  read: (sent) => {
    const { msg: text, monitor, heartbeat } = parseFields(Webhook, sent)
    const isCertificate = !heartbeat && monitor != null
    const [status, severity] = isCertificate ? (['firing', 'warning'] as const) : (states[heartbeat?.status ?? 3] ?? [])
    const id = monitor?.id ?? heartbeat?.monitorID ?? null
    const address = monitor?.url === noAddress ? null : monitor?.url
    return [
      createDraft('uptime-kuma', sent, {
        externalId: id,
        dedupKey: id === null ? null : `${isCertificate ? 'certificate' : 'monitor'}:${id}`,
        status: status ?? 'info',
        severity: severity ?? null,
        resource: firstNonBlank(address, monitor?.hostname),
        title: firstNonBlank(monitor?.name, text),
        body: firstNonBlank(heartbeat?.msg, text),
        labels: { type: monitor?.type },
        occurredAt: heartbeat?.time ?? null,
        url: address ?? null,
      }),
    ]
  },
}
