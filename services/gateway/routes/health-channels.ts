import { randomBytes } from 'node:crypto'
import {
  ChannelTestResponse,
  ChannelTestRequest,
  NewWebhookTarget,
  TargetPreviewResponse,
  TargetPreviewRequest,
  WebhookTargetRequest,
  WebhookTargetsResponse,
} from '#proto/http/channels.ts'
import { PagingServicesResponse, PagingServicesQuery } from '#proto/http/paging-services.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptAlertSecrets, createAlertConfigRoutes } from '../alert-config/alert-config.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { definePostRoute, type Route, defineGetRoute } from '../http-route.ts'

const test = definePostRoute({
  path: '/api/v1/health/channels/{channel}/test',
  doc: 'Sends a test message to the targets of a channel, even when it is disabled, with its saved or other settings, and returns the results',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: ChannelTestRequest,
  answer: ChannelTestResponse,
  handle: async ({ path: { channel }, body: { settings, ...body }, call, requestId, isCallerLocal }, gateway) => {
    const fields = settings && { settings: Object.keys(settings).join(', ') }
    const action = { action: 'test-channel', host: null, target: { channel, ...body, ...fields } }
    const tested = await gateway.audit.of(action, { call, requestId }, async () => {
      const encrypted = settings && (await encryptAlertSecrets(gateway, { settings }, call))
      return gateway.alerts.testChannel({ channel, ...body, encrypted, isCallerLocal }, call)
    })
    return createSuccessBody(tested, { count: tested.length })
  },
})

/** Routes of notification channels. */
export const healthChannelRoutes: readonly Route[] = [test]

/** Requires write access, because it reveals service names of the PagerDuty account. */
export const healthPagingServicesRoute = defineGetRoute({
  path: '/api/v1/health/channels/paging-a/services',
  doc: 'Lists the services of the PagerDuty account that alerts can go to',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  refuses: [409],
  query: PagingServicesQuery,
  answer: PagingServicesResponse,
  handle: async ({ query, call }, { alerts }) => {
    const { services, more } = await alerts.pagingServices(query, call)
    return createSuccessBody(services, { count: services.length, more })
  },
})

const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const path = '/api/v1/health/webhook-targets'

const list = defineGetRoute({
  ...common,
  path,
  doc: 'Lists additional webhook targets with their configuration source; URLs are masked, headers reduced to their names',
  access: 'read',
  answer: WebhookTargetsResponse,
  handle: async ({ call }, { alerts }) => {
    const { targets, persistent } = await alerts.alertPolicy({}, call)
    return createSuccessBody(targets, { persistent, count: targets.length })
  },
})

const preview = definePostRoute({
  ...common,
  path: `${path}/preview`,
  doc: 'Renders a sample alert with the templates of a webhook',
  access: 'read',
  body: TargetPreviewRequest,
  answer: TargetPreviewResponse,
  handle: async ({ body: { url, ...request }, call }, gateway) => {
    const sealed = url === undefined ? {} : { encrypted: await encryptAlertSecrets(gateway, { url }, call) }
    return createSuccessBody(await gateway.alerts.previewTarget({ ...request, ...sealed }, call), {})
  },
})

const writeRoutes = createAlertConfigRoutes({
  name: 'webhook-targets',
  kind: 'webhook-target',
  noun: 'a webhook target',
  added: NewWebhookTarget,
  changed: WebhookTargetRequest,
  newId: () => `cwt_${randomBytes(12).toString('hex')}`,
  update: (id, body) => ({ kind: 'webhook-target', value: { ...body, id } }),
})

/** Routes of additional webhook targets. */
export const healthWebhookTargetRoutes: readonly Route[] = [list, preview, ...writeRoutes]
