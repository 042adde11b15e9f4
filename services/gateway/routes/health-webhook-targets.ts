import { randomBytes } from 'node:crypto'
import {
  NewWebhookTarget,
  TargetPreviewAnswer,
  TargetPreviewRequest,
  WebhookTargetRequest,
  WebhookTargetsAnswer,
} from '#proto/http/channels.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptForAlerts } from '../encrypt-for-alerts.ts'
import { getRoute, postRoute, type Route } from '../route.ts'
import { settledRoutes } from '../settling/settled-routes.ts'
import { success } from '../response/success.ts'

const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const path = '/api/v1/health/webhook-targets'

const list = getRoute({
  ...common,
  path,
  doc: 'Further webhooks that alerts go to, wherever they were settled; of addresses the end, of headers the names',
  access: 'read',
  answer: WebhookTargetsAnswer,
  handle: async ({ call }, { alerts }) => {
    const { targets, lasting } = await alerts.alertPolicy({}, call)
    return success(targets, { lasting, count: targets.length })
  },
})

const preview = postRoute({
  ...common,
  path: `${path}/preview`,
  doc: 'What a webhook would be sent of an invented alert, with these templates',
  access: 'read',
  body: TargetPreviewRequest,
  answer: TargetPreviewAnswer,
  handle: async ({ body: { url, ...asked }, call }, gateway) => {
    const sealed = url === undefined ? {} : { encrypted: await encryptForAlerts(gateway, { url }, call) }
    return success(await gateway.alerts.previewTarget({ ...asked, ...sealed }, call), {})
  },
})

const writes = settledRoutes({
  name: 'webhook-targets',
  kind: 'webhook-target',
  noun: 'a further webhook',
  added: NewWebhookTarget,
  changed: WebhookTargetRequest,
  newId: () => `cwt_${randomBytes(12).toString('hex')}`,
  settling: (id, body) => ({ kind: 'webhook-target', value: { ...body, id } }),
})

/** Further webhooks. */
export const healthWebhookTargetRoutes: readonly Route[] = [list, preview, ...writes]
