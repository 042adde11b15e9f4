import type { Scenario } from '../../agent/evaluation/score.ts'
import { evidenceOf, type Script, type Turn, turnsTaken } from '../../agent/testing/script.ts'

/**
 * A model that does what a scenario says, and then answers with what it finds in the results: when a tool returns the wrong data, or its
 * result never reaches the model, the answer is wrong too.
 */
export const scriptOf =
  ({ script: { steps, quotes, says = 'It is' } }: Scenario): Script =>
  (request): Turn => {
    const calls = steps[turnsTaken(request)]
    if (calls) return { say: calls.map(([call, input]) => ({ call, with: { ...input } })) }
    const read = request.messages.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : [])).join('\n')
    const found = quotes.map((quote) => quote.exec(read.replaceAll(String.raw`\"`, '"'))?.[0])
    if (found.includes(undefined)) return { say: [{ text: 'There is insufficient evidence.' }] }
    const evidence = evidenceOf(request)
    const references = evidence.length > 0 ? ` [${evidence.join(', ')}]` : ''
    return { say: [{ text: `${[says, ...found].join(' ')}${references}` }] }
  }
