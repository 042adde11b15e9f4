import { z } from 'zod'
import { rpc } from './contract.ts'
import { Severity } from './rules.ts'
import { Encrypted } from './transit.ts'
import { TargetFormat, TargetTemplates } from './webhook-targets.ts'

/** How one send of a test message ended. */
export const TestedTarget = z.object({
  /** What routes call it. */
  name: z.string(),
  /** `ok`, `retry` for what may pass, `permanent` and `config` for what does not; a newer release may know more. */
  result: z.string(),
  /** Of a test that arrived: what the operator should know all the same. */
  reason: z.string().nullable(),
})
export type TestedTarget = z.infer<typeof TestedTarget>

/** What a webhook would be sent. */
export const Preview = z.object({ method: z.enum(['POST', 'PUT']), body: z.record(z.string(), z.json()) })
export type Preview = z.infer<typeof Preview>

/** Methods about the ways of telling people. */
export const channelMethods = {
  testChannel: rpc({
    doc: 'Sends a test message to the targets of a channel, switched on or not, and waits for how it ends; `conflict` while its settings are missing.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ channel: z.string().max(64), target: z.string().max(64).optional() }),
    output: z.array(TestedTarget),
  }),
  previewTarget: rpc({
    doc: 'What a webhook would be sent of an invented alert; sends nothing. The address tells the format where that is `auto`.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({
      format: TargetFormat,
      /** Its address as JSON encrypted with `alertSecretsKey`: `{url}`. In clear, as `url`, is what earlier releases send. */
      encrypted: Encrypted.optional(),
      url: z.string().max(2_048).optional(),
      templates: TargetTemplates.optional(),
      severity: Severity,
    }),
    output: Preview,
  }),
}
