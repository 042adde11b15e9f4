import type { z } from 'zod'
import type { ClaimsPart } from '#proto/agent-parts.ts'
import type { Evidence, NumberedEvidence } from '#proto/evidence.ts'
import { hashOf } from '#shared/evidence/recording.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { ToolResult } from '#shared/tools/tool.ts'

/** The call of a tool that evidence comes from. */
interface Source {
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

/** A call of a tool that asked without a statement. */
interface Called {
  hostKey: string
  tool: string
  input: Record<string, unknown>
  atMs: number
}

/** The call itself, and the hash of what it told. */
export const evidenceOfCall = ({ hostKey, tool, input, atMs }: Called, { structured, text }: ToolResult): Evidence => {
  const lists = Object.values(structured ?? {}).filter((value) => Array.isArray(value))
  return {
    hostKey,
    statement: tool,
    parameters: input,
    atMs,
    rows: lists.reduce((sum, { length }) => sum + length, 0),
    rowHash: hashOf(structured ?? text),
  }
}

const reference = /\[(e[1-9]\d{0,3}(?:\s*,\s*e[1-9]\d{0,3})*)\]/g
const mostClaims = 200
const longestClaim = 2_000
const mostReferences = 32
const mostUnknown = 100

/** What the answer is told to say when nothing it found bears a conclusion. */
export const insufficientEvidence = 'insufficient evidence'

/**
 * Reads the claims of an answer: every sentence or line that refers to evidence, and to what it refers. References to evidence
 * that there is not are told apart, so that nobody takes them for proof.
 */
export const claimsOf = (answer: string, has: (id: string) => boolean): z.output<typeof ClaimsPart> => {
  const unknown = new Set<string>()
  const claims = sentencesOf(answer).flatMap((sentence) => {
    const found = referencesOf(sentence)
    for (const id of found) if (!has(id)) unknown.add(id)
    const evidence = found.filter(has).slice(0, mostReferences)
    return evidence.length === 0 ? [] : [{ text: beginningOf(plain(sentence), longestClaim), evidence }]
  })
  return {
    claims: claims.slice(0, mostClaims),
    unknown: [...unknown].slice(0, mostUnknown),
    insufficient: answer.toLowerCase().includes(insufficientEvidence),
  }
}

/** Lines of the text, and within them sentences: a reference stands behind the full stop or before it. */
const sentencesOf = (answer: string): string[] =>
  answer.split('\n').flatMap((line) => line.split(/(?<=[.!?](?:\s?\[e[\d, e]+\])*)\s+(?=\p{Lu})/u))

const referencesOf = (sentence: string): string[] => [
  ...new Set([...sentence.matchAll(reference)].flatMap(([, ids = '']) => ids.split(',').map((id) => id.trim()))),
]

const plain = (sentence: string): string =>
  sentence
    .replaceAll(reference, '')
    .replaceAll(/\s{2,}/g, ' ')
    .replaceAll(/\s+([.,;!?])/g, '$1')
    .trim()
