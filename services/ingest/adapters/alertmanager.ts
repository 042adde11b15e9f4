import type { Adapter } from './adapter.ts'
import { draftOf, readGroup } from './alert-group.ts'

/** The webhook of Alertmanager, version 4: a group of alerts. */
export const alertmanager: Adapter = {
  id: 'alertmanager',
  recognises: ({ alerts }) => Array.isArray(alerts),
  read: (sent) => readGroup(sent, (alert) => draftOf(alert, { source: 'alertmanager', url: null })),
}
