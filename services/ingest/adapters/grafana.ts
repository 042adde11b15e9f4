import { z } from 'zod'
import type { Adapter } from './adapter.ts'
import { draftOf, readGroup } from './alert-group.ts'
import { firstOf, maybeWords, understood } from './fields.ts'

const Shown = z.looseObject({
  silenceURL: maybeWords,
  dashboardURL: maybeWords,
  panelURL: maybeWords,
  valueString: maybeWords,
})

/** The webhook of Grafana: a group as of Alertmanager, with more said of each alert. */
export const grafana: Adapter = {
  id: 'grafana',
  recognises: ({ alerts, orgId, version, state }) =>
    Array.isArray(alerts) && (orgId !== undefined || (version === '1' && state !== undefined)),
  read: (sent) =>
    readGroup(sent, (alert) => {
      const draft = draftOf(alert, { source: 'grafana', url: null })
      const { panelURL, dashboardURL, valueString } = understood(Shown, alert)
      return {
        ...draft,
        body: firstOf(draft.body, valueString),
        url: firstOf(panelURL, dashboardURL, draft.url) || null,
      }
    }),
}
