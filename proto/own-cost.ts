import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput, hostDataReaders } from './host.ts'
import { UnavailableReason } from './unavailable-reason.ts'
import { TimeRangeInput, UsedWindow } from './time-window.ts'

/** The cost of statements on a host, including failed ones and subqueries of distributed queries. */
export const StatementCost = z.object({
  statements: z.number().int(),
  failures: z.number().int(),
  cpuMs: z.number(),
  durationMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
})
export type StatementCost = z.infer<typeof StatementCost>

/** The cost of the product on a host. */
export const OwnCost = z.object({
  total: StatementCost.extend({
    /** Share of the CPU time of all statements on the host, from 0 to 1; null if there was none. */
    cpuShare: z.number().nullable(),
  }),
  /**
   * Cost by purpose, such as `chart` or `probe`, most expensive first. The purpose is `untagged` if the user of the
   * host cannot set `log_comment`.
   */
  purposes: z.array(StatementCost.extend({ purpose: z.string() })),
})
export type OwnCost = z.infer<typeof OwnCost>

/** Methods for the statements of the product itself. */
export const ownCostMethods = {
  ownCost: rpc({
    doc: 'Returns CPU time, duration and rows read of the statements of the product on one host, by purpose.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, ...TimeRangeInput.shape }),
    output: z.object({ cost: OwnCost.nullable(), window: UsedWindow, unavailable: UnavailableReason.nullable() }),
  }),
}
