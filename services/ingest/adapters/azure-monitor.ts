import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, maybeWords, understood } from './fields.ts'

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
      alertRule: maybeWords,
      severity: maybeWords,
      signalType: maybeWords,
      monitorCondition: z.enum(['Fired', 'Resolved']),
      monitoringService: maybeWords,
      alertTargetIDs: z.array(z.string()).nullish(),
      configurationItems: z.array(z.string()).nullish(),
      firedDateTime: instant,
      resolvedDateTime: instant,
      description: maybeWords,
      investigationLink: maybeWords,
    }),
  }),
})

/** The common alert schema of Azure Monitor; `alertId` is the same when the alert resolves. */
export const azureMonitor: Adapter = {
  id: 'azure-monitor',
  recognises: ({ schemaId, data }) =>
    schemaId === 'azureMonitorCommonAlertSchema' || (isSent(data) && isSent(data.essentials)),
  read: (sent) => {
    const alert = understood(CommonAlert, sent).data.essentials
    const isOver = alert.monitorCondition === 'Resolved'
    return [
      draftOfFields('azure-monitor', sent, {
        externalId: alert.alertId,
        identity: ['azure-monitor', alert.alertId, alert.monitorCondition],
        dedupKey: alert.alertId,
        status: isOver ? 'resolved' : 'firing',
        severity: severities[alert.severity ?? ''] ?? null,
        resource: firstOf(alert.configurationItems?.join(', '), alert.alertTargetIDs?.join(', ')),
        title: firstOf(alert.alertRule, alert.alertId),
        body: firstOf(alert.description),
        labels: { service: alert.monitoringService, signal: alert.signalType },
        occurredAt: isOver ? (alert.resolvedDateTime ?? alert.firedDateTime) : alert.firedDateTime,
        url: alert.investigationLink,
      }),
    ]
  },
}
