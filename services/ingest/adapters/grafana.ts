import { z } from 'zod'
import type { EventAdapter } from './adapter.ts'
import { parseAlert, parseAlertGroup } from './alert-group.ts'
import { firstNonBlank, optionalTextField, parseFields } from './fields.ts'

const GrafanaFields = z.looseObject({
  silenceURL: optionalTextField,
  dashboardURL: optionalTextField,
  panelURL: optionalTextField,
  valueString: optionalTextField,
})

/** The webhook of Grafana: the format of Alertmanager with additional fields per alert. */
export const grafana: EventAdapter = {
  id: 'grafana',
  recognizes: ({ alerts, orgId, version, state }) =>
    Array.isArray(alerts) && (orgId !== undefined || (version === '1' && state !== undefined)),
  read: (sent) =>
    parseAlertGroup(sent, (alert) => {
      const draft = parseAlert(alert, { source: 'grafana', url: null })
      const { panelURL, dashboardURL, valueString } = parseFields(GrafanaFields, alert)
      return {
        ...draft,
        body: firstNonBlank(draft.body, valueString),
        url: firstNonBlank(panelURL, dashboardURL, draft.url) || null,
      }
    }),
}
