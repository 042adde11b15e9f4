import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ServiceError } from '#proto/errors.ts'
import { type FakeGateway, startFakeGateway } from './testing/fake-gateway.ts'
import { createUserCall, openTestModels } from './testing/open-models.ts'

const keys = { a: 'sk-key-of-gateway-a', b: 'sk-key-of-gateway-b', c: 'sk-key-of-gateway-c', generic: 'sk-generic-key' }

const listed = (...ids: string[]) => ({ json: { data: ids.map((id) => ({ id, supported_parameters: ['tools'] })) } })
const completion = {
  json: {
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
  },
}

const gateway = async (responses: FakeGateway['responses'] = {}): Promise<FakeGateway> => {
  const started = await startFakeGateway({
    'GET /v1/models': listed('one', 'two'),
    'GET /v1/analytics/network': { json: { top_models: [{ model_id: 'two', rank: 1 }] } },
    'GET /v1/presets': { json: { data: [{ slug: 'ops', name: 'Operations' }] } },
    'POST /v1/chat/completions': completion,
    ...responses,
  })
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

const failureOf = (work: Promise<unknown>): Promise<ServiceError> =>
  work.then(
    () => Promise.reject(new Error('nothing was refused')),
    (error: ServiceError) => error,
  )

/** Returns all requests to each gateway as JSON, to search them for keys. */
const receivedBy = (gateways: readonly FakeGateway[]) => gateways.map(({ received }) => JSON.stringify(received))

const question = { messages: [{ role: 'user' as const, content: 'hello' }] }

describe('the model of a request', () => {
  it('is called through its gateway only, with the key of that gateway', async () => {
    const [a, b, c] = [await gateway(), await gateway(), await gateway()]
    const { models, logged } = await openTestModels({
      GATEWAY_A_API_KEY: keys.a,
      GATEWAY_A_API_BASE: a.base,
      GATEWAY_B_API_KEY: keys.b,
      GATEWAY_B_API_BASE: b.base,
      GATEWAY_C_API_KEY: keys.c,
      GATEWAY_C_API_BASE: c.base,
      AGENT_DEBUG: 'yes',
    })
    for (const provider of ['gateway_a', 'gateway_b', 'gateway_c']) {
      const chosen = await models.choose(`${provider}:two`, createUserCall())
      expect(chosen).toMatchObject({ id: `${provider}:two`, provider, model: 'two', fallback: null })
      await chosen.client.chat.completions.create({ model: chosen.model, ...question })
    }
    const offered = await models.offered(createUserCall())
    const output = JSON.stringify([offered, await models.check(), logged])
    const received = receivedBy([a, b, c])
    for (const [at, key] of [keys.a, keys.b, keys.c].entries()) {
      expect(received.map((each) => each.includes(key))).toEqual([0, 1, 2].map((each) => each === at))
      expect(output).not.toContain(key)
    }
    expect(logged.join('\n')).toContain('model provider called')
    expect(logged.join('\n')).not.toContain('hello')
  })

  it('is called without headers about this machine and without the variables of the library', async () => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: of-another')
    vi.stubEnv('OPENAI_ORG_ID', 'org-of-another')
    vi.stubEnv('OPENAI_BASE_URL', 'http://another.example')
    onTestFinished(() => void vi.unstubAllEnvs())
    const a = await gateway()
    const env = { LLM_API_KEY: keys.generic, LLM_API_BASE: a.base, APP_NAME: 'W' }
    const { models, logged } = await openTestModels(env)
    const { client, model } = await models.choose(null, createUserCall())
    await client.chat.completions.create({ model, ...question })
    expect(logged).toEqual([])
    const headers = a.received.at(-1)?.headers ?? {}
    expect(headers).toMatchObject({
      authorization: `Bearer ${keys.generic}`,
      'x-openrouter-title': 'W',
      'x-openrouter-categories': 'programming-app',
    })
    expect(Object.keys(headers).filter((name) => /stainless|openai-|secret/.test(name))).toEqual([])
    expect(JSON.stringify(headers)).not.toContain('another')
  })

  it('is not called through a redirect of its gateway', async () => {
    const elsewhere = await gateway()
    const location = `${elsewhere.base}/chat/completions`
    const a = await gateway({
      'POST /v1/chat/completions': { location },
      'GET /v1/models': { location: `${elsewhere.base}/models` },
    })
    const { models, logged } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base })
    const { client, model } = await models.choose(null, createUserCall())
    const failure = await failureOf(client.chat.completions.create({ model, ...question }))
    expect(elsewhere.received).toEqual([])
    expect(JSON.stringify([failure, failure.message, failure.cause, logged])).not.toContain(keys.a)
  })

  it('fails without quoting the key that the gateway quotes', async () => {
    const message = `Incorrect API key provided: ${keys.a}`
    const a = await gateway({
      'POST /v1/chat/completions': { status: 401, json: { error: { message, code: 'invalid_api_key' } } },
    })
    const { models, logged } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base })
    const { client, model } = await models.choose(null, createUserCall())
    const failure = await failureOf(client.chat.completions.create({ model, ...question }))
    expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(inspect([failure, logged], { depth: 10, showHidden: true })).not.toContain(keys.a)
  })

  it('is a free model for the alias, with the router of the gateway as fallback', async () => {
    const { models } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_DYNAMIC_MODELS: 'off' })
    expect(await models.choose(null, createUserCall())).toMatchObject({
      id: 'gateway_a:gateway_a/free',
      model: 'nvidia/nemotron-3-super-120b-a12b:free',
      fallback: 'openrouter/free',
      price: { inputPerMillion: 0, outputPerMillion: 0 },
    })
    const own = await openTestModels({
      GATEWAY_A_API_KEY: keys.a,
      GATEWAY_A_API_BASE: 'https://own.example/v1',
      GATEWAY_A_DYNAMIC_MODELS: '0',
      GATEWAY_A_FREE_FALLBACK_MODEL: 'x/free',
    })
    expect(await own.models.choose('gateway_a:gateway_a/free', createUserCall())).toMatchObject({
      model: 'x/free',
      fallback: null,
    })
  })

  it('has the price and context length of the live list', async () => {
    const row = { id: 'big', context_length: 1_000_000, pricing: { prompt: '0.000001', completion: '0.000002' } }
    const a = await gateway({ 'GET /v1/models': { json: { data: [row] } } })
    const { models } = await openTestModels({
      LLM_API_KEY: keys.generic,
      LLM_API_BASE: a.base,
      LLM_MODEL: 'gateway_a:big',
    })
    const price = { inputPerMillion: 1, outputPerMillion: 2 }
    expect(await models.choose(null, createUserCall())).toMatchObject({ contextTokens: 1_000_000, price })
  })

  it('comes from another gateway if the built-in default has no key, but LLM_MODEL is never replaced', async () => {
    const env = { GATEWAY_B_API_KEY: keys.b, GATEWAY_B_DYNAMIC_MODELS: 'off' }
    const { models } = await openTestModels(env)
    expect(await models.choose(null, createUserCall())).toMatchObject({
      id: 'gateway_b:nvidia/nemotron-3-super-120b-a12b',
    })
    const chosen = await openTestModels({ ...env, LLM_MODEL: 'gateway_c:x' })
    expect(await failureOf(chosen.models.choose(null, createUserCall()))).toMatchObject({
      details: { reason: 'provider-not-configured' },
    })
  })
})

describe('a request without a usable model', () => {
  it('names the variables to set if there is no key', async () => {
    const { models } = await openTestModels({})
    expect(await failureOf(models.choose(null, createUserCall()))).toMatchObject({
      code: 'unavailable',
      message:
        'no key is set for a language model: set GATEWAY_A_API_KEY or LLM_API_KEY or GATEWAY_B_API_KEY or GATEWAY_C_API_KEY',
      details: { reason: 'provider-not-configured' },
    })
    expect(await failureOf(models.choose('gateway_b:openai/gpt-oss-120b', createUserCall()))).toMatchObject({
      message: 'no key is set for gateway_b: set GATEWAY_B_API_KEY or LLM_API_KEY',
      details: { reason: 'provider-not-configured', missing: ['GATEWAY_B_API_KEY', 'LLM_API_KEY'] },
    })
  })

  it.each([
    ['gpt-5', 'invalid', /^model must be provider:model/],
    [
      'gateway_a:gateway_a/fre',
      'not-found',
      /^unknown model of gateway_a "gateway_a\/fre"; did you mean "gateway_a\/free"\?$/,
    ],
  ])('is rejected for the unknown model %s', async (reference, code, message) => {
    const { models } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_DYNAMIC_MODELS: 'off' })
    expect(await failureOf(models.choose(reference, createUserCall()))).toMatchObject({
      code,
      message: expect.stringMatching(message),
      details: { parameter: 'model' },
    })
  })

  it('is rejected if a guest chooses a model; guests use the free model', async () => {
    const { models } = await openTestModels({
      GATEWAY_A_API_KEY: keys.a,
      GATEWAY_A_DYNAMIC_MODELS: 'off',
      LLM_MODEL: 'gateway_a:x/dear',
    })
    expect(await models.choose(null, createUserCall('guest'))).toMatchObject({ id: 'gateway_a:gateway_a/free' })
    expect(await models.choose(null, createUserCall())).toMatchObject({ id: 'gateway_a:x/dear' })
    expect(await failureOf(models.choose('gateway_a:x/dear', createUserCall('guest')))).toMatchObject({
      code: 'forbidden',
    })
    expect(await failureOf(models.choose(null, createUserCall('guest'), 'sk-mine-mine'))).toMatchObject({
      code: 'forbidden',
    })
  })
})

describe('a key of the caller', () => {
  it('takes precedence over that of the operator, and allows any model of its gateway', async () => {
    const [a, generic] = [await gateway(), await gateway()]
    const { models } = await openTestModels({
      LLM_API_KEY: keys.generic,
      LLM_API_BASE: generic.base,
      GATEWAY_A_API_BASE: a.base,
      GATEWAY_A_DYNAMIC_MODELS: 'no',
    })
    const { client, model } = await models.choose('gateway_a:x/dear', createUserCall(), 'sk-mine-mine')
    await client.chat.completions.create({ model, ...question })
    expect(a.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-mine-mine'])
    expect(generic.received).toEqual([])
  })

  it.each(['', 'short', 'with\nline', 'ü'.repeat(20), 'k'.repeat(513)])(
    'is rejected without being quoted: %j',
    async (key) => {
      const { models } = await openTestModels({})
      const failure = await failureOf(models.choose(null, createUserCall(), key))
      expect(failure).toMatchObject({ code: 'invalid', details: { parameter: 'apiKey' } })
      expect(failure.message).toBe('invalid apiKey: must have 8 to 512 printable ASCII characters without spaces')
    },
  )
})

describe('live lists', () => {
  it('are fetched once for concurrent callers, and refreshed in the background', async () => {
    const a = await gateway()
    const { models, clock } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base })
    const ids = async () => (await models.offered(createUserCall())).models.map(({ modelId }) => modelId)
    expect(await Promise.all([ids(), ids(), ids()])).toEqual(Array(3).fill(expect.arrayContaining(['one', 'two'])))
    expect(a.received).toHaveLength(1)
    a.responses['GET /v1/models'] = listed('three')
    clock.nowMs += 599_999
    expect(await ids()).toContain('one')
    expect(a.received).toHaveLength(1)
    clock.nowMs += 1
    expect(await ids()).toContain('one')
    await expect.poll(ids).toContain('three')
    expect(a.received).toHaveLength(2)
  })

  it.each([
    ['rejects the key', { status: 401, json: { error: 'sk-key-of-gateway-a' } }],
    ['fails', { status: 500, json: {} }],
    ['returns no JSON', { body: '<html>' }],
    ['returns no list', { json: { models: [] } }],
    ['redirects', { location: 'http://127.0.0.1:9/' }],
  ])(
    'of a gateway that %s leave the built-in models, are fetched again after a minute, and do not quote the response',
    async (_, answer) => {
      const a = await gateway({ 'GET /v1/models': answer })
      const { models, clock, logged } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base })
      const offered = await models.offered(createUserCall())
      expect(offered.models.filter(({ available }) => available).map(({ id }) => id)).toEqual([
        'gateway_a:gateway_a/free',
      ])
      expect((await models.check()).providers[0]).toMatchObject({ id: 'gateway_a', catalogue: 'failed' })
      expect(a.received).toHaveLength(1)
      expect(logged.join('\n')).toContain('fetching live model list failed')
      expect(logged.join('\n')).not.toContain(keys.a)
      clock.nowMs += 60_000
      await models.offered(createUserCall())
      expect(a.received).toHaveLength(2)
    },
  )

  it('are used for a day if no new one is available', async () => {
    const a = await gateway()
    const { models, clock } = await openTestModels({ GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base })
    const ids = async () => (await models.offered(createUserCall())).models.map(({ modelId }) => modelId)
    await ids()
    a.responses['GET /v1/models'] = { status: 500, json: {} }
    clock.nowMs += 24 * 3_600_000 - 1
    expect(await ids()).toContain('one')
    clock.nowMs += 1
    expect(await ids()).not.toContain('one')
  })

  it.each([
    ['GATEWAY_A_DYNAMIC_MODELS', 'GATEWAY_A', 0],
    ['GATEWAY_B_DYNAMIC_MODELS', 'GATEWAY_B', 1],
    ['GATEWAY_C_DYNAMIC_MODELS', 'GATEWAY_C', 2],
  ])('%s enables the list of its gateway, if there is a key', async (name, its, at) => {
    const listing = await gateway()
    const base = { [`${its}_API_BASE`]: listing.base }
    const offered = async (env: Record<string, string>) => {
      const { models } = await openTestModels(env)
      const { models: all } = await models.offered(createUserCall())
      return { live: all.some(({ modelId }) => modelId === 'one'), ...(await models.check()).providers[at] }
    }
    expect(await offered(base)).toMatchObject({ live: false })
    for (const off of ['false', '0', 'no', 'off']) {
      const env = { ...base, [`${its}_API_KEY`]: 'key', [name]: off }
      expect(await offered(env)).toMatchObject({ live: false, catalogue: 'off' })
    }
    expect(listing.received).toEqual([])
    for (const on of [{}, { [name]: 'on' }]) {
      expect(await offered({ ...base, [`${its}_API_KEY`]: 'key', ...on })).toMatchObject({ live: true })
    }
  })

  it('are offered with the default model first and unavailable models last', async () => {
    const a = await gateway()
    const env = { GATEWAY_A_API_KEY: keys.a, GATEWAY_A_API_BASE: a.base, LLM_MODEL: 'gateway_a:two' }
    const { models } = await openTestModels(env)
    const { models: offered } = await models.offered(createUserCall())
    expect(offered.map(({ id, available }) => [id, available])).toEqual([
      ['gateway_a:two', true],
      ['gateway_a:gateway_a/free', true],
      ['gateway_a:one', true],
      ['gateway_b:nvidia/nemotron-3-super-120b-a12b', false],
      ['gateway_b:openai/gpt-oss-120b', false],
      ['gateway_c:anyrouter/auto', false],
    ])
  })

  it('are not used for other gateways at LLM_API_BASE, where only models that the operator names are offered', async () => {
    const a = await gateway()
    const env = { LLM_API_KEY: keys.generic, LLM_API_BASE: a.base, LLM_EXTRA_MODELS: 'gateway_b:mine' }
    const { models } = await openTestModels(env)
    const { models: offered } = await models.offered(createUserCall())
    const available = offered.filter((each) => each.available).map(({ id }) => id)
    expect(available).toEqual(['gateway_a:gateway_a/free', 'gateway_b:mine', 'gateway_a:one', 'gateway_a:two'])
    const reference = 'gateway_b:openai/gpt-oss-120b'
    expect(await models.choose('gateway_b:mine', createUserCall())).toMatchObject({ model: 'mine' })
    expect(await failureOf(models.choose(reference, createUserCall()))).toMatchObject({ code: 'not-found' })
    expect(await models.choose(reference, createUserCall(), 'sk-mine-mine')).toMatchObject({ id: reference })
  })

  it('at other addresses are fetched without the key', async () => {
    const [a, list] = [await gateway(), await gateway()]
    const env = {
      GATEWAY_A_API_KEY: keys.a,
      GATEWAY_A_API_BASE: a.base,
      GATEWAY_A_MODELS_API: `${list.base}/models?all=1`,
    }
    const { models } = await openTestModels(env)
    await models.offered(createUserCall())
    expect(list.received.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/models?all=1', undefined],
    ])
    expect(a.received).toEqual([])
  })

  it('of AnyRouter include usage and presets, and work without them', async () => {
    const c = await gateway()
    const env = { GATEWAY_C_API_KEY: keys.c, GATEWAY_C_API_BASE: c.base }
    const { models } = await openTestModels(env)
    const ofC = async (opened: typeof models) =>
      (await opened.offered(createUserCall())).models
        .filter(({ provider }) => provider === 'gateway_c')
        .map(({ modelId }) => modelId)
    expect(await ofC(models)).toEqual(['anyrouter/auto', '@preset/ops', 'two', 'one'])
    c.responses['GET /v1/presets'] = { status: 403, json: {} }
    c.responses['GET /v1/analytics/network'] = { body: 'soon' }
    const later = await openTestModels(env)
    expect(await ofC(later.models)).toEqual(['anyrouter/auto', 'one', 'two'])
    expect((await later.models.check()).notes).toEqual([
      'Presets are unavailable: AnyRouter rejects the key for reading presets; check GATEWAY_C_API_KEY.',
    ])
  })
})
