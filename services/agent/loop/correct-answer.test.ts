import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ClaimsPart, UsagePart } from '#proto/agent-parts.ts'
import { createFigureClaims, type FigureClaim } from '../testing/figure-claims.ts'
import { findLastQuestion, type ModelScript } from '../testing/model-script.ts'
import {
  constantMcpHandlers,
  filterChunksByType,
  findLastData,
  joinChunkText,
  startAgent,
  type TestAgent,
} from '../testing/start-agent.ts'

const claims = createFigureClaims(7, 200)
const findClaim = (key: unknown): FigureClaim => {
  const claim = claims[Number(key)]
  if (claim === undefined) throw new Error(`there is no claim ${String(key)}`)
  return claim
}
/** Handlers of a fake tool `query`: each statement returns the rows of the claim that was created with it. */
const handlers: typeof constantMcpHandlers = {
  ...constantMcpHandlers,
  call: async ({ arguments: { sql } }) => {
    const { columns, rows } = sql === 'SELECT 5' ? { columns: ['5'], rows: [[5]] } : findClaim(sql)
    const structured = {
      columns: columns.map((name) => ({ name, type: 'String' })),
      rows,
      truncated: null,
      rowsRead: 7,
      durationMs: 3,
    }
    const text = rows.length === 1 ? '1 row, complete.' : `${rows.length} rows, complete.`
    const { sql: statement } = sql === 'SELECT 5' ? { sql } : findClaim(sql)
    const rowHash = 'a'.repeat(64)
    const evidence = [{ hostKey: 'analytics', statement, parameters: {}, atMs: 1, rows: rows.length, rowHash }]
    return { isError: false, text, structured, evidence }
  },
}

let agent: TestAgent
beforeEach(async () => {
  agent = await startAgent({ script: [], mcp: handlers })
})
afterEach(async () => {
  const { violations } = agent.gateway
  if (violations.length > 0) throw new Error(`a strict gateway would reject this: ${violations.join('; ')}`)
  await agent[Symbol.asyncDispose]()
})

const query = (sql: string) => ({ say: [{ call: 'query', with: { sql } }] })
const say = (text: string) => ({ say: [{ text }] })
const readClaims = (chunks: Parameters<typeof findLastData>[0]) =>
  ClaimsPart.parse(findLastData(chunks, 'data-claims')).claims
const first = 'There are 99999 parts [e1].'
const second = 'There are 5 parts [e1].'

/** Returns a model that never corrects its claim. `select` chooses the true or the false figure. */
const playClaim =
  (select: (claim: FigureClaim) => string): ModelScript =>
  (request) => {
    const key = findLastQuestion(request)
    const claim = findClaim(key)
    const hasResult = request.messages.some(({ role }) => role === 'tool')
    return hasResult ? say(`${claim.text.replace('{}', select(claim))} [e1]`) : query(key)
  }

const concurrentRuns = 50

const answerAll = async (select: (claim: FigureClaim) => string) => {
  agent.gateway.play(playClaim(select))
  const run = async (_claim: FigureClaim, index: number) => readClaims((await agent.run(String(index))).chunks)
  const answers: Awaited<ReturnType<typeof run>>[] = []
  for (let from = 0; from < claims.length; from += concurrentRuns) {
    const batch = claims.slice(from, from + concurrentRuns)
    answers.push(...(await Promise.all(batch.map((claim, index) => run(claim, from + index)))))
  }
  return answers
}

describe('the claims of a scripted model', () => {
  it('are never proven in 200 answers with a false figure', async () => {
    const answers = await answerAll(({ wrong }) => wrong)
    expect(answers.map((each) => each.length)).toEqual(claims.map(() => 1))
    const proven = answers.flatMap((each, index) =>
      each.every(({ untraced = [] }) => untraced.length === 0) ? [claims[index]] : [],
    )
    expect(proven).toEqual([])
  }, 60_000)

  it('are proven in 200 answers with a true figure', { tags: ['long'], timeout: 60_000 }, async () => {
    const answers = await answerAll(({ right }) => right)
    const unproven = answers.flatMap((each, index) =>
      each.some(({ untraced = [] }) => untraced.length > 0) ? [claims[index]] : [],
    )
    expect(unproven).toEqual([])
  })
})

describe('an answer with a figure that does not follow from its evidence', () => {
  it('is marked, corrected once by the model, and replaced', async () => {
    agent.gateway.play([query('SELECT 5'), say(first), say(second)])
    const { chunks, message } = await agent.run('How many parts?')
    const marks = filterChunksByType(chunks, 'data-claims').map((chunk) =>
      'data' in chunk ? ClaimsPart.parse(chunk.data).claims : [],
    )
    expect(marks).toEqual([
      [{ text: 'There are 99999 parts.', evidence: ['e1'], untraced: ['99999'] }],
      [{ text: 'There are 5 parts.', evidence: ['e1'] }],
    ])
    expect(findLastData(chunks, 'data-correction')).toEqual({ untraced: ['99999'] })
    const request = agent.gateway.requests.at(-1)
    expect(request?.messages.at(-1)?.content).toContain('99999 does not follow from e1')
    expect(request?.tool_choice).toBe('none')
    expect(agent.gateway.requests).toHaveLength(3)
    const types = message?.parts.map(({ type }) => type) ?? []
    expect(types.slice(types.lastIndexOf('step-start'))).toEqual([
      'step-start',
      'data-correction',
      'text',
      'data-usage',
    ])
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })

    const parts = message?.parts ?? []
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'How many parts?' }] },
      { role: 'assistant', parts },
      { role: 'user', parts: [{ type: 'text', text: 'Thanks' }] },
    ]
    agent.gateway.play([say('You are welcome.')])
    await agent.run({ messages })
    const sent = JSON.stringify(agent.gateway.requests.at(-1)?.messages)
    expect(sent).toContain('There are 5 parts')
    expect(sent).not.toContain('99999')
  })

  it('is requested again only once', async () => {
    agent.gateway.play([query('SELECT 5'), say(first), say('There are 88888 parts [e1].')])
    const { chunks } = await agent.run('How many parts?')
    expect(agent.gateway.requests).toHaveLength(3)
    expect(readClaims(chunks)).toMatchObject([{ text: 'There are 88888 parts.', untraced: ['88888'] }])
  })

  it.each([
    ['the model fails', {}, { status: 500 }],
    ['the model calls a tool', {}, query('SELECT 5')],
    ['the model is cut off', {}, { say: [{ text: 'There are' }], ending: 'length' as const }],
    ['no step is left', { SVC_AGENT_MAX_STEPS: '2' }, say(second)],
    ['no time is left', { SVC_AGENT_RUN_SECONDS: '2' }, { silent: true as const }],
  ])('remains with its mark if %s', async (_what, env, last) => {
    Object.assign(agent.env, env)
    agent.gateway.play([query('SELECT 5'), { say: [{ text: first }] }, last])
    const { chunks } = await agent.run('How many parts?')
    expect(joinChunkText(chunks)).toBe(first)
    expect(readClaims(chunks)).toMatchObject([{ untraced: ['99999'] }])
    expect(filterChunksByType(chunks, 'data-correction')).toEqual([])
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  it('remains with its mark if no token is left', async () => {
    agent.gateway.play([query('SELECT 5'), say(second)])
    const { inputTokens, outputTokens } = UsagePart.parse(findLastData((await agent.run('Go')).chunks, 'data-usage'))
    agent.env.SVC_AGENT_MAX_TOKENS = String(inputTokens + outputTokens)
    agent.gateway.play([query('SELECT 5'), say(first), say(second)])
    const { chunks } = await agent.run('Go')
    expect(joinChunkText(chunks)).toBe(first)
    expect(readClaims(chunks)).toMatchObject([{ untraced: ['99999'] }])
  })
})
