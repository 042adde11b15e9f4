import { z } from 'zod'
import { ChannelSettingsUpdate } from '../alert-policy.ts'
import { WebhookPreview, TestMessageResult } from '../channels.ts'
import { Severity } from '../rules.ts'
import { WebhookTargetView, targetFields, targetSecrets } from '../webhook-targets.ts'
import { createResponseSchema } from './response.ts'

/**
 * `POST /api/v1/health/channels/{channel}/test`: sends to one target or to all. `settings` are tested without saving
 * them; the saved ones apply to absent fields.
 */
export const ChannelTestRequest = z.strictObject({
  target: z.string().min(1).max(64).optional(),
  settings: ChannelSettingsUpdate.shape.settings,
})
/** The result of each test message. A failed send is a result, not an error. */
export const ChannelTestResponse = createResponseSchema(z.array(TestMessageResult), z.object({ count: z.int() }))

/** `GET /api/v1/health/webhook-targets`: all targets from all sources, without their secrets. */
export const WebhookTargetsResponse = createResponseSchema(
  z.array(WebhookTargetView),
  z.object({ persistent: z.boolean(), count: z.int() }),
)

const target = { ...targetFields, ...targetSecrets }
/** Body of `POST /api/v1/health/webhook-targets`. */
export const NewWebhookTarget = z.strictObject({ ...target, url: targetSecrets.url.unwrap() })
/** Body of `PUT /api/v1/health/webhook-targets/{id}`. An absent address or absent headers remain unchanged. */
export const WebhookTargetRequest = z.strictObject(target)

/** Body of `POST /api/v1/health/webhook-targets/preview`. */
export const TargetPreviewRequest = z.strictObject({
  format: targetFields.format,
  url: targetSecrets.url,
  templates: targetFields.templates,
  severity: Severity.default('warning'),
})
/** Response of `POST /api/v1/health/webhook-targets/preview`: the request that the webhook would receive. */
export const TargetPreviewResponse = createResponseSchema(WebhookPreview, z.object({}))
