import type { Evidence, NumberedEvidence } from '#proto/evidence.ts'

/** The call of a tool that evidence comes from. */
export interface Source {
  toolCallId: string
  tool: string
}

/** All that stands behind one answer, numbered in the order it was found. */
export interface Ledger {
  /** Keeps what a call of a tool has found, as far as there is room, and numbers it. */
  add(evidence: readonly Evidence[], source: Source): NumberedEvidence[]
  has(id: string): boolean
}

/** Statements behind one answer; what a step reads beyond them has no number. */
const mostEvidence = 500

/** Numbers go on after those that earlier answers of the conversation have used. */
export const openLedger = (after: number): Ledger => {
  const ids = new Set<string>()
  return {
    add: (evidence, source) =>
      evidence.slice(0, Math.max(0, mostEvidence - ids.size)).map((each) => {
        const id = `e${after + ids.size + 1}`
        ids.add(id)
        return { ...each, ...source, id }
      }),
    has: (id) => ids.has(id),
  }
}
