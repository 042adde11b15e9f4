import type { EventAdapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { parseAlert } from './alert-group.ts'
import { parseInstant } from './fields.ts'

/** An alert as Prometheus sends it to Alertmanager. It has no status; once resolved, its `endsAt` is in the past. */
export const prometheus: EventAdapter = {
  id: 'prometheus',
  recognizes: ({ labels, status, title }) =>
    isJsonObject(labels) && typeof labels.alertname === 'string' && status === undefined && title === undefined,
  read: (sent) => {
    const endsAt = parseInstant(sent.endsAt)
    const status = endsAt !== null && endsAt <= Date.now() ? 'resolved' : 'firing'
    return [parseAlert({ ...sent, status }, { source: 'prometheus', url: null })]
  },
}
