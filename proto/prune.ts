import { z } from 'zod'
import { rpc } from './contract.ts'

/** Served by every service that stores data for a limited time: removes expired data, for the retention cron. */
export const pruneMethods = {
  prune: rpc({
    doc: 'Removes expired data.',
    callers: ['gateway'],
    input: z.object({}),
    /** Removed entries by kind. */
    output: z.object({ removed: z.record(z.string().max(64), z.int().min(0)) }),
  }),
}
