import type { Adapter } from './adapter.ts'
import { draftOf, readGroup } from './alert-group.ts'

/** The webhook of Alertmanager, version 4: a group of alerts. */
export const alertmanager: Adapter = {
  id: 'alertmanager',
  recognises: ({ alerts, groupKey, receiver }) =>
    Array.isArray(alerts) && (groupKey !== undefined || receiver !== undefined || alerts.some(isAlert)),
  read: (sent) => readGroup(sent, (alert) => draftOf(alert, { source: 'alertmanager', url: null })),
}

/** Others have lists of that name too, of something else. */
const isAlert = (alert: unknown): boolean => typeof alert === 'object' && alert !== null && 'labels' in alert
