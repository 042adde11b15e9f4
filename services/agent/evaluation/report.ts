import { isRight, type Score } from './score.ts'

/** What came of all scenarios, a line each, and their sums. */
export const reportOf = (model: string, scores: readonly Score[]): string => {
  const width = Math.max(...scores.map(({ name }) => name.length))
  const lines = scores.flatMap((score) => [
    [
      isRight(score) ? 'right' : 'WRONG',
      score.name.padEnd(width),
      `cause ${said(score.rootCause)}`,
      `evidence ${said(score.evidence)}`,
      `no write ${said(score.noWrite)}`,
      `${score.steps} steps`,
      `${score.calls} calls`,
      `${score.tokens} tokens`,
    ].join('  '),
    ...(isRight(score) ? [] : [`       ${score.failure ?? score.text.replaceAll(/\s+/g, ' ').slice(0, longestQuote)}`]),
  ])
  const sum = (of: (score: Score) => number) => scores.reduce((all, score) => all + of(score), 0)
  const count = (of: (score: Score) => boolean) => `${sum((score) => Number(of(score)))} of ${scores.length}`
  return [
    `Answers of ${model}:`,
    ...lines,
    `${count(isRight)} right; cause named in ${count((score) => score.rootCause)}, evidence valid in ${count((score) => score.evidence)}, nothing changed in ${count((score) => score.noWrite)}; ${sum(({ steps }) => steps)} steps, ${sum(({ tokens }) => tokens)} tokens`,
  ].join('\n')
}

/** Characters of a wrong answer that are told. */
const longestQuote = 400

const said = (holds: boolean): string => (holds ? 'yes' : 'NO ')
