import { z } from 'zod'
import { rpc } from './contract.ts'

/** Served by every service that keeps something for a stated time: removes what is older, as the retention cron asks. */
export const pruneMethods = {
  prune: rpc({
    doc: 'Removes what is older than its stated age.',
    callers: ['gateway'],
    input: z.object({}),
    /** Entries removed, by what they are. */
    output: z.object({ removed: z.record(z.string().max(64), z.int().min(0)) }),
  }),
}
