import { z } from 'zod'
import { Preview, TestedTarget } from '../channels.ts'
import { Severity } from '../rules.ts'
import { ShownTarget, targetFields, targetSecrets } from '../webhook-targets.ts'
import { answer } from './answer.ts'

/** `POST /api/v1/health/channels/{channel}/test`: to one of its targets, or to all of them. */
export const ChannelTestRequest = z.strictObject({ target: z.string().min(1).max(64).optional() })
/** How each send ended; one that failed is an answer like any other. */
export const ChannelTestAnswer = answer(z.array(TestedTarget), z.object({ count: z.int() }))

/** `GET /api/v1/health/webhook-targets`: all of them, wherever they were settled, without their secrets. */
export const WebhookTargetsAnswer = answer(z.array(ShownTarget), z.object({ lasting: z.boolean(), count: z.int() }))

const target = { ...targetFields, ...targetSecrets }
/** `POST /api/v1/health/webhook-targets` */
export const NewWebhookTarget = z.strictObject({ ...target, url: targetSecrets.url.unwrap() })
/** `PUT /api/v1/health/webhook-targets/{id}`: an address and headers that are not given stay as they were saved. */
export const WebhookTargetRequest = z.strictObject(target)

/** `POST /api/v1/health/webhook-targets/preview` */
export const TargetPreviewRequest = z.strictObject({
  format: targetFields.format,
  url: targetSecrets.url,
  templates: targetFields.templates,
  severity: Severity.default('warning'),
})
/** Method and body of what would be sent. */
export const TargetPreviewAnswer = answer(Preview, z.object({}))
