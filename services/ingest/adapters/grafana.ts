import { z } from 'zod'
import type { Adapter } from './adapter.ts'
import { parseDraft, parseGroup } from './alert-group.ts'
import { firstNonBlank, optionalText, parseFields } from './fields.ts'

const GrafanaFields = z.looseObject({
  silenceURL: optionalText,
  dashboardURL: optionalText,
  panelURL: optionalText,
  valueString: optionalText,
})

/** The webhook of Grafana: the format of Alertmanager with additional fields per alert. */
export const grafana: Adapter = {
  id: 'grafana',
  recognizes: ({ alerts, orgId, version, state }) =>
    Array.isArray(alerts) && (orgId !== undefined || (version === '1' && state !== undefined)),
  read: (sent) =>
    parseGroup(sent, (alert) => {
      const draft = parseDraft(alert, { source: 'grafana', url: null })
      const { panelURL, dashboardURL, valueString } = parseFields(GrafanaFields, alert)
      return {
        ...draft,
        body: firstNonBlank(draft.body, valueString),
        url: firstNonBlank(panelURL, dashboardURL, draft.url) || null,
      }
    }),
}
