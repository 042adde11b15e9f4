import type { Adapter } from './adapter.ts'
import { parseDraft, parseGroup } from './alert-group.ts'

/** The webhook of Alertmanager, version 4: a group of alerts. */
export const alertmanager: Adapter = {
  id: 'alertmanager',
  recognizes: ({ alerts, groupKey, receiver }) =>
    Array.isArray(alerts) && (groupKey !== undefined || receiver !== undefined || alerts.some(isAlert)),
  read: (sent) => parseGroup(sent, (alert) => parseDraft(alert, { source: 'alertmanager', url: null })),
}

/** Returns whether an entry of `alerts` is an alert; other systems use a list of this name with different entries. */
const isAlert = (alert: unknown): boolean => typeof alert === 'object' && alert !== null && 'labels' in alert
