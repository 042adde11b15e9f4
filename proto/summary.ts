import { z } from 'zod'
import { rpc } from './contract.ts'

/** Methods of `agent` that summarize results of other services. */
export const summaryMethods = {
  summarize: rpc({
    doc: 'Returns an unverified summary of a report by the language model. `unavailable` with reason `provider-not-configured` without a key.',
    callers: ['report'],
    input: z.object({ /** The report in plain text. */ text: z.string().min(1).max(100_000) }),
    output: z.object({ summary: z.string() }),
  }),
}
