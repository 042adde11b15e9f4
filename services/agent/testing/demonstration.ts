import {
  extractEvidenceIds,
  findLastQuestion,
  type ModelScript,
  type ScriptedModelResponse,
  countResponses,
} from './model-script.ts'
import type { ChatRequest } from './strict-request.ts'

/** Output speed of a typical model, in tokens per second. */
const tokensPerSecond = 60

/** The response of each step, by the keyword that a question contains. */
const responsesByKeyword: Readonly<Record<string, readonly ((request: ChatRequest) => ScriptedModelResponse)[]>> = {
  plan: [
    () =>
      createToolCallResponse('I will look at this in three steps.', [
        'update_plan',
        { steps: createPlanSteps('in_progress', 'pending', 'pending') },
      ]),
    () => createToolCallResponse('', ['get_metrics', {}], ['list_databases', {}]),
    () =>
      createToolCallResponse(
        '',
        ['update_plan', { steps: createPlanSteps('completed', 'in_progress', 'pending') }],
        ['get_merge_status', {}],
      ),
    () =>
      createToolCallResponse('', ['update_plan', { steps: createPlanSteps('completed', 'completed', 'in_progress') }]),
    createCitingResponse('The host is healthy: it answers, nothing is stuck in merges'),
  ],
  chart: [
    () => createToolCallResponse('', ['query_and_visualize', chart]),
    createCitingResponse('The chart shows the largest databases'),
  ],
  kill: [
    () => createToolCallResponse('The query holds up the others.', ['kill_query', { queryId: 'runaway' }]),
    () => createTextResponse('That is all I can do about it.'),
  ],
  ask: [
    () =>
      createToolCallResponse('', [
        'ask_user',
        { question: 'Which host do you mean?', kind: 'single_choice', options: ['one', 'two'] },
      ]),
    () => createTextResponse('Thank you.'),
  ],
  think: [
    () => ({
      say: [{ reasoning: 'The person wants to know the version. A tool reports it.  ' }, { call: 'get_metrics' }],
      tokensPerSecond,
    }),
    createCitingResponse('The host runs the version that its metrics name'),
  ],
  empty: [() => ({ say: [] })],
  slow: [() => ({ say: [{ text: 'One word after the other, for a long time. '.repeat(100) }], tokensPerSecond: 20 })],
  unknown: [
    () => createToolCallResponse('', ['no_such_tool', {}]),
    () => createTextResponse('There is no such tool, so there is insufficient evidence.'),
  ],
  loop: [() => createToolCallResponse('', ['list_databases', {}])],
}

/**
 * Selects responses for manual tests of the agent page by a keyword in the question. An HTTP status in the
 * question, such as 429, causes a failure.
 */
export const selectDemonstrationResponse: ModelScript = (request) => {
  const question = findLastQuestion(request).toLowerCase()
  const status = /\b(401|402|429|500|503)\b/.exec(question)?.[1]
  if (status !== undefined) return { status: Number(status), headers: { 'retry-after': '1' } }
  const act = Object.entries(responsesByKeyword).find(([word]) => question.includes(word))?.[1] ?? defaultResponses
  const turn = act[Math.min(countResponses(request), act.length - 1)]
  return turn ? turn(request) : createTextResponse('I have nothing to say.')
}

type ToolCall = readonly [name: string, input: Record<string, unknown>]

const createTextResponse = (text: string): ScriptedModelResponse => ({ say: [{ text }], tokensPerSecond })

const createToolCallResponse = (text: string, ...calls: readonly ToolCall[]): ScriptedModelResponse => ({
  say: [...(text === '' ? [] : [{ text }]), ...calls.map(([call, input]) => ({ call, with: input }))],
  tokensPerSecond,
})

/** Returns a function that responds with a claim and cites all evidence. */
function createCitingResponse(claim: string) {
  return (request: ChatRequest): ScriptedModelResponse => {
    const evidence = extractEvidenceIds(request)
    return createTextResponse(
      `${claim}${evidence.length > 0 ? ` [${evidence.join(', ')}]` : ''}.\n\nThat is **all** there is to it.`,
    )
  }
}

const defaultResponses = [
  () =>
    createToolCallResponse(
      '',
      ['query', { sql: 'SELECT version() AS version, uptime() AS uptime' }],
      ['get_running_queries', {}],
    ),
  createCitingResponse('The host responds and reports its version'),
]

const createPlanSteps = (...states: readonly string[]) =>
  ['See that the host is well', 'Look at its merges', 'Say what it means'].map((title, index) => ({
    title,
    status: states[index] ?? 'pending',
  }))

const chart = {
  title: 'Databases by size',
  sql: 'SELECT database, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active GROUP BY database ORDER BY bytes DESC LIMIT 10',
  kind: 'bar',
  x: 'database',
  y: ['bytes'],
  unit: 'bytes',
}
