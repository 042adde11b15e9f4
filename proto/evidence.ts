import { z } from 'zod'
import { HostKey } from './host.ts'

/** A statement that stands behind what is claimed: what was asked of which host, when, and what came back. */
export const Evidence = z.object({
  hostKey: HostKey,
  /** As it was sent, with placeholders for its parameters; for what is asked without SQL, the method that was asked. */
  statement: z.string().max(100_000),
  parameters: z.record(z.string().max(64), z.unknown()),
  /** Epoch milliseconds when the answer had come. */
  atMs: z.number(),
  rows: z.int().min(0),
  /** SHA-256 of columns and rows as JSON, in hex: asked again, the same rows have the same one. */
  rowHash: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Evidence = z.infer<typeof Evidence>

/** Evidence with the number by which an answer refers to it, as in `[e1]`, and the call of a tool that it comes from. */
export const NumberedEvidence = Evidence.extend({
  id: z.string().regex(/^e[1-9]\d{0,3}$/),
  toolCallId: z.string().max(128),
  tool: z.string().max(128),
})
export type NumberedEvidence = z.infer<typeof NumberedEvidence>
