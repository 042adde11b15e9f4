import {
  extractEvidenceIds,
  findLastQuestion,
  type ModelScript,
  type ScriptedModelResponse,
  countResponses,
} from './script.ts'
import type { ChatRequest } from './strict-request.ts'

/** Output speed of a typical model, in tokens per second. */
const tokensPerSecond = 60

/** The response of each step, by the keyword that a question contains. */
const acts: Readonly<Record<string, readonly ((request: ChatRequest) => ScriptedModelResponse)[]>> = {
  plan: [
    () =>
      calling('I will look at this in three steps.', [
        'update_plan',
        { steps: plan('in_progress', 'pending', 'pending') },
      ]),
    () => calling('', ['get_metrics', {}], ['list_databases', {}]),
    () =>
      calling('', ['update_plan', { steps: plan('completed', 'in_progress', 'pending') }], ['get_merge_status', {}]),
    () => calling('', ['update_plan', { steps: plan('completed', 'completed', 'in_progress') }]),
    cited('The host is healthy: it answers, nothing is stuck in merges'),
  ],
  chart: [() => calling('', ['query_and_visualize', chart]), cited('The chart shows the largest databases')],
  kill: [
    () => calling('The query holds up the others.', ['kill_query', { queryId: 'runaway' }]),
    () => saying('That is all I can do about it.'),
  ],
  ask: [
    () =>
      calling('', [
        'ask_user',
        { question: 'Which host do you mean?', kind: 'single_choice', options: ['one', 'two'] },
      ]),
    () => saying('Thank you.'),
  ],
  think: [
    () => ({
      say: [{ reasoning: 'The person wants to know the version. A tool reports it.  ' }, { call: 'get_metrics' }],
      tokensPerSecond,
    }),
    cited('The host runs the version that its metrics name'),
  ],
  empty: [() => ({ say: [] })],
  slow: [() => ({ say: [{ text: 'One word after the other, for a long time. '.repeat(100) }], tokensPerSecond: 20 })],
  unknown: [
    () => calling('', ['no_such_tool', {}]),
    () => saying('There is no such tool, so there is insufficient evidence.'),
  ],
  loop: [() => calling('', ['list_databases', {}])],
}

/**
 * A script for manual tests of the agent page. A keyword in the question selects the responses. An HTTP status in the
 * question, such as 429, causes a failure.
 */
export const demonstrationScript: ModelScript = (request) => {
  const question = findLastQuestion(request).toLowerCase()
  const status = /\b(401|402|429|500|503)\b/.exec(question)?.[1]
  if (status !== undefined) return { status: Number(status), headers: { 'retry-after': '1' } }
  const act = Object.entries(acts).find(([word]) => question.includes(word))?.[1] ?? usual
  const turn = act[Math.min(countResponses(request), act.length - 1)]
  return turn ? turn(request) : saying('I have nothing to say.')
}

type ToolCall = readonly [name: string, input: Record<string, unknown>]

const saying = (text: string): ScriptedModelResponse => ({ say: [{ text }], tokensPerSecond })

const calling = (text: string, ...calls: readonly ToolCall[]): ScriptedModelResponse => ({
  say: [...(text === '' ? [] : [{ text }]), ...calls.map(([call, input]) => ({ call, with: input }))],
  tokensPerSecond,
})

/** Returns a function that responds with a claim and cites all evidence. */
function cited(claim: string) {
  return (request: ChatRequest): ScriptedModelResponse => {
    const evidence = extractEvidenceIds(request)
    return saying(
      `${claim}${evidence.length > 0 ? ` [${evidence.join(', ')}]` : ''}.\n\nThat is **all** there is to it.`,
    )
  }
}

const usual = [
  () => calling('', ['query', { sql: 'SELECT version() AS version, uptime() AS uptime' }], ['get_running_queries', {}]),
  cited('The host responds and reports its version'),
]

const plan = (...states: readonly string[]) =>
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
