import type { Adapter } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOf } from './alert-group.ts'
import { instantOf } from './fields.ts'

/** An alert as Prometheus posts it to the API of Alertmanager: no status, but an end that lies in the past once it resolves. */
export const prometheus: Adapter = {
  id: 'prometheus',
  recognises: ({ labels, status, title }) =>
    isSent(labels) && typeof labels.alertname === 'string' && status === undefined && title === undefined,
  read: (sent) => {
    const endsAt = instantOf(sent.endsAt)
    const status = endsAt !== null && endsAt <= Date.now() ? 'resolved' : 'firing'
    return [draftOf({ ...sent, status }, { source: 'prometheus', url: null })]
  },
}
