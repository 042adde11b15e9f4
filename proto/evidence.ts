import { z } from 'zod'
import { HostKey } from './host.ts'

/** The evidence for a claim: a statement, its host, its time and its result. */
export const Evidence = z.object({
  hostKey: HostKey,
  /** The statement as sent, with placeholders for its parameters; the method name for calls without SQL. */
  statement: z.string().max(100_000),
  parameters: z.record(z.string().max(64), z.unknown()),
  /** Epoch milliseconds when the response was complete. */
  atMs: z.number(),
  rows: z.int().min(0),
  /** SHA-256 of columns and rows as JSON, in hex; equal results have equal hashes. */
  rowHash: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Evidence = z.infer<typeof Evidence>

/** Evidence with its tool call and the id by which responses refer to it, such as `[e1]`. */
export const NumberedEvidence = Evidence.extend({
  id: z.string().regex(/^e[1-9]\d{0,3}$/),
  toolCallId: z.string().max(128),
  tool: z.string().max(128),
})
export type NumberedEvidence = z.infer<typeof NumberedEvidence>
