import { randomBytes } from 'node:crypto'
import {
  ChannelTestAnswer,
  ChannelTestRequest,
  NewWebhookTarget,
  TargetPreviewAnswer,
  TargetPreviewRequest,
  WebhookTargetRequest,
  WebhookTargetsAnswer,
} from '#proto/http/channels.ts'
import { PagingServicesAnswer, PagingServicesQuery } from '#proto/http/paging-services.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptForAlerts, settledRoutes } from '../alert-config/alert-config.ts'
import { success } from '../response/envelope.ts'
import { postRoute, type Route, getRoute } from '../http-route.ts'

const test = postRoute({
  path: '/api/v1/health/channels/{channel}/test',
  doc: 'Sends a test message to the targets of a channel at once, switched on or not, and says how that went',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: ChannelTestRequest,
  answer: ChannelTestAnswer,
  handle: async ({ path: { channel }, body, call, requestId }, { alerts, audit }) => {
    const deed = { action: 'test-channel', host: null, target: { channel, ...body } }
    const tested = await audit.of(deed, { call, requestId }, () => alerts.testChannel({ channel, ...body }, call))
    return success(tested, { count: tested.length })
  },
})

/** The ways of telling people. */
export const healthChannelRoutes: readonly Route[] = [test]

/** For those who set paging up, and for nobody else: what an account calls its services is its own. */
export const healthPagingServices = getRoute({
  path: '/api/v1/health/channels/paging-a/services',
  doc: 'Services of the PagerDuty account, to choose the one that alerts go to',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  refuses: [409],
  query: PagingServicesQuery,
  answer: PagingServicesAnswer,
  handle: async ({ query, call }, { alerts }) => {
    const { services, more } = await alerts.pagingServices(query, call)
    return success(services, { count: services.length, more })
  },
})

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
