import type { EventAdapter } from './adapter.ts'
import { parseAlert, parseAlertGroup } from './alert-group.ts'

/** The webhook of Alertmanager, version 4: a group of alerts. */
export const alertmanager: EventAdapter = {
  id: 'alertmanager',
  recognizes: ({ alerts, groupKey, receiver }) =>
    Array.isArray(alerts) && (groupKey !== undefined || receiver !== undefined || alerts.some(isAlert)),
  read: (sent) => parseAlertGroup(sent, (alert) => parseAlert(alert, { source: 'alertmanager', url: null })),
}

/** Returns whether an entry of `alerts` is an alert; other systems use a list of this name with different entries. */
const isAlert = (alert: unknown): boolean => typeof alert === 'object' && alert !== null && 'labels' in alert
