import type { EvaluationScenario } from '../../agent/evaluation/score.ts'
import {
  extractEvidenceIds,
  type ModelScript,
  type ScriptedModelResponse,
  countResponses,
} from '../../agent/testing/model-script.ts'

/**
 * Returns the script of a model that calls the tools of a scenario and quotes values from their results. If a tool
 * returns wrong data, or its result does not reach the model, the answer is wrong.
 */
export const createScenarioScript =
  ({ script: { steps, quotes, says = 'It is' } }: EvaluationScenario): ModelScript =>
  (request): ScriptedModelResponse => {
    const calls = steps[countResponses(request)]
    if (calls) return { say: calls.map(([call, input]) => ({ call, with: { ...input } })) }
    const read = request.messages.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : [])).join('\n')
    const found = quotes.map((quote) => quote.exec(read.replaceAll(String.raw`\"`, '"'))?.[0])
    if (found.includes(undefined)) return { say: [{ text: 'There is insufficient evidence.' }] }
    const evidence = extractEvidenceIds(request)
    const references = evidence.length > 0 ? ` [${evidence.join(', ')}]` : ''
    return { say: [{ text: `${[says, ...found].join(' ')}${references}` }] }
  }
