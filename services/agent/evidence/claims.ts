import type { ClaimsPart } from '#proto/agent-parts.ts'
import type { z } from 'zod'
import { beginningOf } from '#shared/text/cut.ts'

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
