import type { z } from 'zod'
import type { ClaimsPart } from '#proto/agent-parts.ts'
import type { Evidence, NumberedEvidence } from '#proto/evidence.ts'
import { hashJson } from '#shared/evidence/recording.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { ToolResult } from '#shared/tools/tool.ts'

/** The tool call that produced the evidence. */
interface Source {
  toolCallId: string
  tool: string
}

/** The evidence of one answer, numbered in order. */
export interface EvidenceLedger {
  /** Assigns ids to the evidence of a tool call and returns it. Drops evidence above the limit per answer. */
  add(evidence: readonly Evidence[], source: Source): NumberedEvidence[]
  has(id: string): boolean
}

const maxEvidence = 500

/** Opens a ledger that continues the numbering of earlier answers. */
export const openEvidenceLedger = (after: number): EvidenceLedger => {
  const ids = new Set<string>()
  return {
    add: (evidence, source) =>
      evidence.slice(0, Math.max(0, maxEvidence - ids.size)).map((each) => {
        const id = `e${after + ids.size + 1}`
        ids.add(id)
        return { ...each, ...source, id }
      }),
    has: (id) => ids.has(id),
  }
}

/** A tool call that sent no statement to a host. */
interface ToolCall {
  hostKey: string
  tool: string
  input: Record<string, unknown>
  atMs: number
}

/** Returns evidence for a call that sent no statement: the tool, its input and a hash of the result. */
export const createCallEvidence = (
  { hostKey, tool, input, atMs }: ToolCall,
  { structured, text }: ToolResult,
): Evidence => {
  const lists = Object.values(structured ?? {}).filter((value) => Array.isArray(value))
  return {
    hostKey,
    statement: tool,
    parameters: input,
    atMs,
    rows: lists.reduce((sum, { length }) => sum + length, 0),
    rowHash: hashJson(structured ?? text),
  }
}

const referencePattern = /\[(e[1-9]\d{0,3}(?:\s*,\s*e[1-9]\d{0,3})*)\]/g
const maxClaims = 200
const maxClaimLength = 2_000
const maxReferences = 32
const maxUnknown = 100

/** The phrase with which the model states that its findings support no conclusion. */
export const insufficientEvidence = 'insufficient evidence'

/**
 * Returns the claims of an answer: every sentence or line that cites evidence, with the cited ids. Lists citations of
 * unknown evidence separately, because they prove nothing.
 */
export const extractClaims = (answer: string, has: (id: string) => boolean): z.output<typeof ClaimsPart> => {
  const unknown = new Set<string>()
  const claims = splitIntoSentences(answer).flatMap((sentence) => {
    const found = extractReferences(sentence)
    for (const id of found) if (!has(id)) unknown.add(id)
    const evidence = found.filter(has).slice(0, maxReferences)
    return evidence.length === 0 ? [] : [{ text: shortenText(removeReferences(sentence), maxClaimLength), evidence }]
  })
  return {
    claims: claims.slice(0, maxClaims),
    unknown: [...unknown].slice(0, maxUnknown),
    insufficient: answer.toLowerCase().includes(insufficientEvidence),
  }
}

/** Splits an answer into lines and sentences. A citation may stand before or after the full stop. */
const splitIntoSentences = (answer: string): string[] =>
  answer.split('\n').flatMap((line) => line.split(/(?<=[.!?](?:\s?\[e[\d, e]+\])*)\s+(?=\p{Lu})/u))

const extractReferences = (sentence: string): string[] => [
  ...new Set([...sentence.matchAll(referencePattern)].flatMap(([, ids = '']) => ids.split(',').map((id) => id.trim()))),
]

const removeReferences = (sentence: string): string =>
  sentence
    .replaceAll(referencePattern, '')
    .replaceAll(/\s{2,}/g, ' ')
    .replaceAll(/\s+([.,;!?])/g, '$1')
    .trim()
