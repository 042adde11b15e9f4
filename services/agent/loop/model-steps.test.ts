import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseSettings } from '#shared/config/setting.ts'
import { openNet } from '#shared/net/net.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { agentSettings } from '../config.ts'
import type { ChosenModel } from '../models/model-choice.ts'
import { openModelClient } from '../models/client.ts'
import { Run, runLimits } from '../runs/run.ts'
import type { ModelScript } from '../testing/model-script.ts'
import { scriptedApiKey, startScriptedGateway } from '../testing/scripted-gateway.ts'
import { anonymousIdentity, createTestCall } from '../testing/start-agent.ts'
import { openUsageMeter } from './answer-limits.ts'
import { createModelStepRunner } from './model-steps.ts'
import { openToolbox } from './toolbox.ts'

const question = [{ role: 'user' as const, content: 'Is it well?' }]

/** Starts a scripted gateway and returns a function that runs steps of its model. */
const open = async (script: ModelScript, more: Partial<ChosenModel> = {}, env: Record<string, string> = {}) => {
  const scope = new AsyncDisposableStack()
  onTestFinished(() => scope.disposeAsync())
  const gateway = scope.use(await startScriptedGateway({ script }))
  const net = scope.use(openNet({ env: {} }))
  const way = { base: new URL(gateway.url), ownAddress: false, key: scriptedApiKey, keyFrom: 'LLM_API_KEY' }
  const model: ChosenModel = {
    id: 'gateway_a:gateway_a/free',
    provider: 'gateway_a',
    model: 'gone',
    client: await openModelClient({ env: {}, net, log: pino({ level: 'silent' }) }, 'gateway_a', way),
    fallback: 'other',
    contextTokens: 32_768,
    price: null,
    ...more,
  }
  const meter = openUsageMeter(model)
  const speak = createModelStepRunner({
    model,
    settings: parseSettings(agentSettings, env),
    call: createTestCall(),
    meter,
    toolbox: openToolbox([], []),
    emit: () => undefined,
    tracer: noopTracers.tracer('agent'),
    run: new Run(`agent-1.${'x'.repeat(22)}`, anonymousIdentity, runLimits),
  })
  const step = async (number = 1) => (await speak(question, { number, mayCallTools: true })).text
  return { step, meter, requestedModels: () => gateway.requests.map((request) => request.model) }
}

const only =
  (status: number): ModelScript =>
  ({ model }) =>
    model === 'gone' ? { status } : { say: [{ text: 'well' }] }

it.each([[404], [402], [429], [500]])('a model that responds with %d is replaced by its fallback', async (status) => {
  const { step, requestedModels } = await open(only(status))
  expect([await step(1), await step(2)]).toEqual(['well', 'well'])
  expect(requestedModels().slice(-2)).toEqual(['other', 'other'])
})

it.each([
  ['whose key is rejected', 401, {}, 'provider-key-refused'],
  ['that has no fallback', 404, { fallback: null }, 'model-not-found'],
])('a model %s ends the answer', async (_what, status, more, code) => {
  const { step, requestedModels } = await open(only(status), more)
  await expect(step()).rejects.toMatchObject({ code })
  expect(requestedModels()).not.toContain('other')
})

it('a model is not called after the cost limit is reached', async () => {
  const price = { inputPerMillion: 1_000, outputPerMillion: 1_000 }
  const { step, requestedModels } = await open(
    [{ say: [{ text: 'well' }] }],
    { price },
    { SVC_AGENT_MAX_COST_CENTS: '1' },
  )
  expect(await step(1)).toBe('well')
  await expect(step(2)).rejects.toMatchObject({ code: 'cost-limit' })
  expect(requestedModels()).toHaveLength(1)
})

it('a model that returns an empty response is called once more', async () => {
  let times = 0
  const { step } = await open(() => ({ say: (times += 1) === 1 ? [] : [{ text: 'well' }] }))
  expect(await step()).toBe('well')
})

describe('the cost of an answer', () => {
  const price = { inputPerMillion: 1_000, outputPerMillion: 1_000 }

  it('is what the gateway charges, and stops sixteen steps of $0.40 at $1', async () => {
    const { step, meter, requestedModels } = await open([{ say: [{ text: 'well' }], costUsd: 0.4 }])
    const steps = Array.from({ length: 16 }, (_, index) => index + 1)
    const runAll = async () => {
      for (const number of steps) await step(number)
    }
    await expect(runAll()).rejects.toMatchObject({ code: 'cost-limit' })
    expect(requestedModels()).toHaveLength(3)
    expect(meter.sum()).toMatchObject({ estimatedCostUsd: expect.closeTo(1.2), steps: 3 })
  })

  it.each([
    ['that fail after they were charged', { say: [], costUsd: 0.4, ending: 'error' as const }],
    ['with an empty response', { say: [], costUsd: 0.4 }],
  ])('includes steps %s', async (_what, turn) => {
    const { step, meter, requestedModels } = await open([turn])
    for (const number of Array.from({ length: 16 }, (_, index) => index + 1)) {
      await expect(step(number)).rejects.toMatchObject({ code: expect.any(String) })
    }
    await expect(step(17)).rejects.toMatchObject({ code: 'cost-limit' })
    expect([requestedModels().length, meter.sum().estimatedCostUsd]).toEqual([3, expect.closeTo(1.2)])
  })

  it.each([
    ['stops in the middle', { say: [{ text: 'It is' }], ending: 'cut' as const }, 1],
    ['fails, with each retry', { status: 500, headers: { 'retry-after': '0' } }, 2],
    ['is garbled', { raw: 'data: oops\n\n' }, 1],
  ])('is estimated for a response that %s', async (_what, turn, requests) => {
    const { step, meter, requestedModels } = await open([turn], { price, fallback: null })
    await expect(step()).rejects.toMatchObject({ code: expect.stringMatching(/^provider-/) })
    const { steps, inputTokens, estimatedCostUsd } = meter.sum()
    expect([requestedModels().length, steps]).toEqual([requests, requests])
    expect(inputTokens).toBeGreaterThan(0)
    expect(estimatedCostUsd).toBeGreaterThan(0)
  })

  it('does not include requests that the gateway rejects', async () => {
    const { step, meter } = await open([{ status: 429, headers: { 'retry-after': '0' } }], { price, fallback: null })
    await expect(step()).rejects.toMatchObject({ code: 'provider-rate-limited' })
    expect(meter.sum()).toMatchObject({ steps: 0, inputTokens: 0, estimatedCostUsd: 0 })
  })

  it('includes the upstream cost of requests with an upstream key of the user', () => {
    const meter = openUsageMeter({ id: 'a:b', provider: 'gateway_a', model: 'b', price })
    const step = { read: 10, written: 10, resolvedModel: undefined }
    const charged = { cost: 0.01, cost_details: { upstream_inference_cost: 0.2 } }
    meter.add({ ...step, usage: { ...charged, is_byok: true } })
    meter.add({ ...step, usage: { ...charged, is_byok: false } })
    meter.add({ ...step, usage: { cost: -5, prompt_tokens: 1_000, completion_tokens: 0 } })
    expect(meter.sum().estimatedCostUsd).toBeCloseTo(0.21 + 0.01 + 1)
  })
})
