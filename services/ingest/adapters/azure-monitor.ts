import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'

const severities: Readonly<Record<string, EventSeverity>> = {
  Sev0: 'critical',
  Sev1: 'critical',
  Sev2: 'warning',
  Sev3: 'info',
  Sev4: 'info',
}

const CommonAlert = z.looseObject({
  data: z.looseObject({
    essentials: z.looseObject({
      alertId: z.string().min(1),
      alertRule: optionalTextField,
      severity: optionalTextField,
      signalType: optionalTextField,
      monitorCondition: z.enum(['Fired', 'Resolved']),
      monitoringService: optionalTextField,
      alertTargetIDs: z.array(z.string()).nullish(),
      configurationItems: z.array(z.string()).nullish(),
      firedDateTime: timestampField,
      resolvedDateTime: timestampField,
      description: optionalTextField,
      investigationLink: optionalTextField,
    }),
  }),
})

/** The common alert schema of Azure Monitor; `alertId` is the same when the alert resolves. */
export const azureMonitorAdapter: EventAdapter = {
  id: 'azure-monitor',
  recognizes: ({ schemaId, data }) =>
    schemaId === 'azureMonitorCommonAlertSchema' || (isJsonObject(data) && isJsonObject(data.essentials)),
  read: (sent) => {
    const alert = parseFields(CommonAlert, sent).data.essentials
    const isOver = alert.monitorCondition === 'Resolved'
    return [
      createDraft('azure-monitor', sent, {
        externalId: alert.alertId,
        identity: ['azure-monitor', alert.alertId, alert.monitorCondition],
        dedupKey: alert.alertId,
        status: isOver ? 'resolved' : 'firing',
        severity: severities[alert.severity ?? ''] ?? null,
        resource: firstNonBlank(alert.configurationItems?.join(', '), alert.alertTargetIDs?.join(', ')),
        title: firstNonBlank(alert.alertRule, alert.alertId),
        body: firstNonBlank(alert.description),
        labels: { service: alert.monitoringService, signal: alert.signalType },
        occurredAt: isOver ? (alert.resolvedDateTime ?? alert.firedDateTime) : alert.firedDateTime,
        url: alert.investigationLink,
      }),
    ]
  },
}
