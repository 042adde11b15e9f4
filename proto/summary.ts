import { z } from 'zod'
import { rpc } from './contract.ts'

/** Methods of `agent` that put into words what others have found. */
export const summaryMethods = {
  summarise: rpc({
    doc: 'A few sentences of the language model about a report, unchecked. `unavailable` with reason `provider-not-configured` without a key.',
    callers: ['report'],
    input: z.object({ /** The report in plain text. */ text: z.string().min(1).max(100_000) }),
    output: z.object({ summary: z.string() }),
  }),
}
