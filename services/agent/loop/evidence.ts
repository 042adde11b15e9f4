import { z } from 'zod'
import type { ClaimsPart } from '#proto/agent-parts.ts'
import type { Evidence, NumberedEvidence } from '#proto/evidence.ts'
import { hashJson } from '#shared/evidence/recording.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { ToolResult } from '#shared/tools/tool.ts'
import { extractFigures } from './figures.ts'
import { type CitedResult, readTables } from './result-cells.ts'
import { findUntracedFigures } from './trace-figures.ts'
import type { TruncatedValue } from '#shared/text/truncate-to-size.ts'

/** The tool call that produced the evidence. */
interface Source {
  toolCallId: string
  tool: string
}

/** The evidence of one answer, numbered in order, with the results to which its figures are traced. */
export interface EvidenceLedger {
  /** Assigns ids to the evidence of a tool call and returns it. Drops evidence above the limit per answer. */
  add(evidence: readonly Evidence[], source: Source, result: TruncatedValue): NumberedEvidence[]
  has(id: string): boolean
  /** Returns the results of tool calls with this evidence. Omits results beyond the size limit per answer. */
  findResults(ids: readonly string[]): CitedResult[]
}

const maxEvidence = 500
/** Maximum size of the results that one answer keeps, in characters of JSON. */
const maxResultsLength = 8 * 1024 * 1024

/** Opens a ledger that continues the numbering of earlier answers. */
export const openEvidenceLedger = (after: number): EvidenceLedger => {
  const known = new Map<string, NumberedEvidence>()
  const results = new Map<string, () => Omit<CitedResult, 'rowCounts' | 'request'>>()
  let length = 0
  return {
    add(evidence, source, result) {
      const added = evidence.slice(0, Math.max(0, maxEvidence - known.size)).map((each) => {
        const id = `e${after + known.size + 1}`
        const numbered = { ...each, ...source, id }
        known.set(id, numbered)
        return numbered
      })
      length += (JSON.stringify(result.value) ?? '').length
      if (added.length > 0 && length <= maxResultsLength) {
        const statements = added.map(({ statement }) => statement).join('\n')
        results.set(source.toolCallId, readOnce(result, statements))
      }
      return added
    },
    has: (id) => known.has(id),
    findResults(ids) {
      const cited = ids.flatMap((id) => known.get(id) ?? [])
      return [...Map.groupBy(cited, ({ toolCallId }) => toolCallId)].flatMap(([toolCallId, evidence]) => {
        const read = results.get(toolCallId)?.()
        const request = evidence.map(({ tool, statement, parameters }) => [tool, statement, JSON.stringify(parameters)])
        return read
          ? [{ ...read, rowCounts: evidence.map(({ rows }) => rows), request: request.flat().join('\n') }]
          : []
      })
    },
  }
}

/** Returns a function that reads the cells of a result on the first call, since most results are not cited. */
const readOnce = (
  { value, cut }: TruncatedValue,
  statements: string,
): (() => Omit<CitedResult, 'rowCounts' | 'request'>) => {
  let read: ReturnType<ReturnType<typeof readOnce>> | undefined
  return () => (read ??= readResult(value, !cut, statements))
}

const readResult = (
  value: unknown,
  isComplete: boolean,
  statements: string,
): Omit<CitedResult, 'rowCounts' | 'request'> => {
  const { text, error, result } = z
    .object({ text: z.string(), error: z.string(), result: z.unknown() })
    .partial()
    .catch({})
    .parse(value)
  return { tables: readTables(result, isComplete, statements), summary: extractFigures(text ?? error ?? '') }
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
const maxUntraced = 32
const maxFigureLength = 64

/** The phrase with which the model states that its findings support no conclusion. */
export const insufficientEvidence = 'insufficient evidence'

/** The evidence and the question against which the claims of an answer are checked. */
interface ClaimSources extends Pick<EvidenceLedger, 'has' | 'findResults'> {
  /** The text of the question. */
  question: string
}

/**
 * Returns the claims of an answer: every sentence or line that cites evidence, with the cited ids and the figures that
 * do not follow from the cited results. Lists citations of unknown evidence separately, because they prove nothing.
 */
export const extractClaims = (
  answer: string,
  { has, findResults, question }: ClaimSources,
): z.output<typeof ClaimsPart> => {
  const unknown = new Set<string>()
  const claims = splitIntoStatements(answer).flatMap((sentence) => {
    const found = extractReferences(sentence)
    for (const id of found) if (!has(id)) unknown.add(id)
    const evidence = found.filter(has).slice(0, maxReferences)
    if (evidence.length === 0) return []
    const text = removeReferences(sentence)
    const untraced = findUntracedFigures(text, { results: findResults(evidence), question })
      .slice(0, maxUntraced)
      .map((figure) => shortenText(figure, maxFigureLength))
    return [{ text: shortenText(text, maxClaimLength), evidence, ...(untraced.length > 0 && { untraced }) }]
  })
  return {
    claims: claims.slice(0, maxClaims),
    unknown: [...unknown].slice(0, maxUnknown),
    insufficient: answer.toLowerCase().includes(insufficientEvidence),
  }
}

/**
 * Splits an answer into lines and sentences. A citation without words covers the line before it. If a cited sentence
 * has no figure itself, its citation also covers the figures of the sentences before it.
 */
const splitIntoStatements = (answer: string): string[] =>
  joinBareCitations(answer.split('\n')).flatMap((line) => {
    const statements: string[] = []
    let pending: string[] = []
    for (const sentence of splitIntoSentences(line)) {
      const isCited = extractReferences(sentence).length > 0
      const covers = isCited && extractFigures(removeReferences(sentence)).length === 0
      const from = covers ? pending.findIndex((each) => extractFigures(each).length > 0) : -1
      if (isCited) statements.push([...(from === -1 ? [] : pending.slice(from)), sentence].join(' '))
      pending = isCited ? [] : [...pending, sentence]
    }
    return statements
  })

/** Appends lines that consist of citations to the line before them. */
const joinBareCitations = (lines: readonly string[]): string[] => {
  const joined: string[] = []
  for (const line of lines) {
    if (line.trim() === '') continue
    const words = removeReferences(line).replaceAll(/[^\p{L}\p{N}]/gu, '')
    const isBare = extractReferences(line).length > 0 && /^(?:evidence|sources?|see|proof|references?)?$/i.test(words)
    if (isBare && joined.length > 0) joined.push(`${joined.pop()} ${line.trim()}`)
    else joined.push(line)
  }
  return joined
}

/** Splits a line into sentences. A citation may stand before or after the full stop. */
const splitIntoSentences = (line: string): string[] => line.split(/(?<=[.!?](?:\s?\[e[\d, e]+\])*)\s+(?=\p{Lu})/u)

const extractReferences = (sentence: string): string[] => [
  ...new Set([...sentence.matchAll(referencePattern)].flatMap(([, ids = '']) => ids.split(',').map((id) => id.trim()))),
]

const removeReferences = (sentence: string): string =>
  sentence
    .replaceAll(referencePattern, '')
    .replaceAll(/\s{2,}/g, ' ')
    .replaceAll(/\s+([.,;!?])/g, '$1')
    .trim()
