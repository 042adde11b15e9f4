import { z } from 'zod'
import { rpc } from './contract.ts'

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

/** Methods about the ways of telling people. */
export const channelMethods = {
  testChannel: rpc({
    doc: 'Sends a test message to the targets of a channel, switched on or not, and waits for how it ends; `conflict` while its settings are missing.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ channel: z.string().max(64), target: z.string().max(64).optional() }),
    output: z.array(TestedTarget),
  }),
}
