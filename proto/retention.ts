import { z } from 'zod'
import { rpc } from './contract.ts'

/** Methods of every service that stores data for a limited time. The retention cron calls them. */
export const pruneMethods = {
  prune: rpc({
    doc: 'Removes expired data.',
    callers: ['gateway'],
    input: z.object({}),
    /** Number of removed entries by kind. */
    output: z.object({ removed: z.record(z.string().max(64), z.int().min(0)) }),
  }),
}
