import { z } from 'zod'
import { rpc } from './contract.ts'
import { Severity } from './rules.ts'
import { EncryptedSecrets } from './encrypted-secrets.ts'
import { TargetFormat, TargetTemplates } from './webhook-targets.ts'

/** The result of sending one test message. */
export const TestMessageResult = z.object({
  /** The name that routes use. */
  name: z.string(),
  /** `ok`, `retry` (transient failure), `permanent` (message rejected) or `config`. A newer release may add values. */
  result: z.string(),
  /** Why the test failed, or a hint for the operator after a successful one. */
  reason: z.string().nullable(),
  /** The response of the target; null without one, for mail servers, and from older releases. */
  response: z
    .object({
      status: z.int(),
      tookMs: z.number(),
      /** The start of the body, without the secrets of the channel. */
      text: z.string(),
    })
    .nullable()
    .default(null),
})
export type TestMessageResult = z.infer<typeof TestMessageResult>

/** The request that a webhook would receive. */
export const WebhookPreview = z.object({ method: z.enum(['POST', 'PUT']), body: z.record(z.string(), z.json()) })
export type WebhookPreview = z.infer<typeof WebhookPreview>

/** Methods for notification channels. */
export const channelMethods = {
  testChannel: rpc({
    doc: 'Sends a test message to the targets of a channel, enabled or not, and waits for the result; `conflict` if settings are missing.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({
      channel: z.string().max(64),
      target: z.string().max(64).optional(),
      /** Changed settings to test before they are saved: JSON `{settings}`, encrypted with `alertSecretsKey`. */
      encrypted: EncryptedSecrets.optional(),
      /** Whether the gateway received the request from a caller on its own machine. */
      isCallerLocal: z.boolean().default(false),
    }),
    output: z.array(TestMessageResult),
  }),
  previewTarget: rpc({
    doc: 'Returns the payload of a webhook for a sample alert; sends nothing. The address determines the format if that is `auto`.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({
      format: TargetFormat,
      /** The address as JSON `{url}`, encrypted with `alertSecretsKey`. Earlier releases send a plain `url`. */
      encrypted: EncryptedSecrets.optional(),
      url: z.string().max(2_048).optional(),
      templates: TargetTemplates.optional(),
      severity: Severity,
    }),
    output: WebhookPreview,
  }),
}
