import type { Scenario } from '../../agent/evaluation/score.ts'
import { evidenceOf, type Script, type Turn, turnsTaken } from '../../agent/testing/script.ts'

/**
 * Returns the script of a model that calls the tools of a scenario and quotes values from their results. If a tool
 * returns wrong data, or its result does not reach the model, the answer is wrong.
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
