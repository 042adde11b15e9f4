import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost, readers } from './host.ts'
import { Unavailable } from './unavailable.ts'
import { UsedWindow, Window } from './window.ts'

/** What statements cost a host: those that failed and their parts on this host as part of others included. */
export const StatementCost = z.object({
  statements: z.number().int(),
  failures: z.number().int(),
  cpuMs: z.number(),
  durationMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
})
export type StatementCost = z.infer<typeof StatementCost>

/** What the product itself costs a host. */
export const OwnCost = z.object({
  total: StatementCost.extend({
    /** Of the CPU time of all statements on the host, from 0 to 1; null when there was none. */
    cpuShare: z.number().nullable(),
  }),
  /** By the part of the product that asked, such as `chart` or `probe`, dearest first; `untagged` where the host's user may send no comment. */
  purposes: z.array(StatementCost.extend({ purpose: z.string() })),
})
export type OwnCost = z.infer<typeof OwnCost>

/** Methods about the product's own statements. */
export const ownCostMethods = {
  ownCost: rpc({
    doc: "CPU time, duration and rows read of the product's own statements on one host, by purpose.",
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, ...Window.pick({ lastHours: true, from: true, to: true }).shape }),
    output: z.object({ cost: OwnCost.nullable(), window: UsedWindow, unavailable: Unavailable.nullable() }),
  }),
}
