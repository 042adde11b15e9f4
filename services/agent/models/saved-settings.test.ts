import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openModels } from './models.ts'
import { openSavedModelSettings } from './saved-settings.ts'
import { testDefaultModel } from './test-model.ts'
import { type FakeGateway, startFakeGateway } from './testing/fake-gateway.ts'
import { createUserCall } from './testing/open-models.ts'
import { openStore } from '#shared/store/open.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'

const log = pino({ level: 'silent' })
const sealing = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator' }
const privateHosts = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }
const model = 'gateway_a:local-model'
const completion = {
  json: {
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'OK' } }],
  },
}

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-model-settings-'))
})
afterAll(() => rm(directory, { recursive: true }))

const start = async (responses: FakeGateway['responses'] = { 'POST /v1/chat/completions': completion }) => {
  const gateway = await startFakeGateway(responses)
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  return gateway
}

/** Opens the settings as one process of the agent does. */
const open = async (name: string, more: Record<string, string> = {}) => {
  const scope = new AsyncDisposableStack()
  onTestFinished(() => scope.disposeAsync())
  const env = { SVC_STATE_DB_URL: `file:${join(directory, `${name}.db`)}`, ...sealing, ...more }
  const database = scope.use((await openStateDatabase(env, log)) ?? new AsyncDisposableStack())
  const net = scope.use(openNet({ env }))
  const store = scope.use(await openStore({ env: {}, busIsShared: false }))
  const saved = await openSavedModelSettings({
    env,
    net,
    database: 'prefix' in database ? database : undefined,
    clock: systemClock,
    log,
  })
  return {
    saved,
    models: scope.use(openModels({ ...saved, clock: systemClock, store, log, tracer: noopTracers.tracer('agent') })),
  }
}
const byName = (fields: readonly { field: string }[]) => Object.fromEntries(fields.map((each) => [each.field, each]))

describe('saved settings of the model gateway', () => {
  it('are used without a restart, in every process, and stored encrypted', async () => {
    const gateway = await start()
    const one = await open('processes', privateHosts)
    const other = await open('processes', privateHosts)
    expect(await one.models.check()).toMatchObject({ active: false })
    const { fields } = await one.saved.save({
      apiKey: 'sk-a-secret',
      baseUrl: gateway.base,
      model,
      isCallerLocal: false,
    })
    expect(byName(fields)).toMatchObject({
      apiKey: { value: '••••', source: 'database' },
      baseUrl: { value: gateway.base, source: 'database' },
      model: { value: model, source: 'database' },
    })
    for (const { models } of [one, other]) {
      await expect.poll(async () => (await models.check()).defaultModel).toBe(model)
      const chosen = await models.choose(null, createUserCall())
      await chosen.client.chat.completions.create({ model: chosen.model, messages: [] })
    }
    const calls = gateway.received.filter(({ method }) => method === 'POST')
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-a-secret', 'Bearer sk-a-secret'])
    for (const suffix of ['', '-wal']) {
      const text = await readFile(join(directory, `processes.db${suffix}`), 'latin1').catch(() => '')
      expect(text).not.toContain('sk-a-secret')
    }
    await one.saved.remove()
    expect(await one.models.check()).toMatchObject({ active: false })
  })

  it('are weaker than variables', async () => {
    const { saved } = await open('variables', { LLM_API_KEY: 'sk-of-the-operator', LLM_MODEL: 'gateway_b:two' })
    const { fields } = await saved.describe()
    expect(byName(fields)).toMatchObject({
      apiKey: { value: '••••', source: 'environment' },
      model: { value: 'gateway_b:two', source: 'environment' },
    })
    const change = { isCallerLocal: false }
    await expect(saved.save({ ...change, apiKey: 'sk-mine' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'apiKey is set by LLM_API_KEY; change the variable',
    })
    // The key of the operator must not be sent to an address that a user saves.
    await expect(saved.save({ ...change, baseUrl: 'https://gateway.example/v1' })).rejects.toMatchObject({
      code: 'invalid',
      details: { parameter: 'baseUrl' },
    })
  })

  it('keep a key of the operator from an address that was saved before it', async () => {
    const gateway = await start()
    const before = await open('later-key', privateHosts)
    await before.saved.save({ apiKey: 'sk-mine', baseUrl: gateway.base, model, isCallerLocal: false })
    const { saved } = await open('later-key', { ...privateHosts, LLM_API_KEY: 'sk-of-the-operator' })
    await saved.refresh()
    expect(saved.env.LLM_API_BASE).toBeUndefined()
    expect(saved.env.LLM_API_KEY).toBe('sk-of-the-operator')
  })

  it.each<[string, object, object, string]>([
    ['a new address without its key', {}, { baseUrl: 'https://other.example/v1' }, 'apiKey'],
    ['an address without a model', {}, { baseUrl: 'https://other.example/v1', apiKey: 'sk-x', model: null }, 'model'],
    ['a private address', {}, { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: 'sk-x', model }, 'baseUrl'],
    ['a model without a gateway', {}, { model: 'gpt' }, 'model'],
    ['a key with a line break', {}, { apiKey: 'sk-a\nb' }, 'apiKey'],
  ])('reject %s', async (_what, env, change, parameter) => {
    const { saved } = await open('rejected', { ...env })
    await saved.save({ apiKey: 'sk-mine', isCallerLocal: false })
    const refused = await saved.save({ ...change, isCallerLocal: false }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'invalid', details: { parameter } })
    expect(String(refused)).not.toContain('127.0.0.1')
  })

  it('may have a private address for a caller on the machine of a single process', async () => {
    const gateway = await start()
    const single = { SVC_DATA_DIRECTORY: directory, SVC_STATE_DB_URL: `file://${join(directory, 'state.db')}` }
    const { saved } = await open('state', single)
    const change = { apiKey: 'any', baseUrl: gateway.base, model }
    await expect(saved.save({ ...change, isCallerLocal: false })).rejects.toMatchObject({ code: 'invalid' })
    const preview = await saved.preview({ ...change, isCallerLocal: true })
    expect(await testDefaultModel(preview, log, createUserCall())).toMatchObject({ isOk: true, model })
    await saved.save({ ...change, isCallerLocal: true })
    expect(await testDefaultModel(saved, log, createUserCall())).toMatchObject({ isOk: true })
  })

  it('are rejected without a database or an encryption key', async () => {
    for (const name of ['SVC_STATE_DB_URL', 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY']) {
      const { saved } = await open('none', { [name]: '' })
      expect(await saved.describe()).toMatchObject({ problem: expect.stringContaining('SVC_') })
      await expect(saved.save({ apiKey: 'sk-mine', isCallerLocal: false })).rejects.toMatchObject({
        code: 'not-implemented',
      })
    }
  })
})

describe('the test of a model', () => {
  it('reports the cause of a failure, and no text of the gateway', async () => {
    const gateway = await start({ 'POST /v1/chat/completions': { status: 401, json: { error: { message: 'sk-a' } } } })
    const { saved } = await open('failing', privateHosts)
    const change = { apiKey: 'sk-a-secret', baseUrl: gateway.base, model, isCallerLocal: false }
    const refused = await testDefaultModel(await saved.preview(change), log, createUserCall())
    expect(refused).toMatchObject({ isOk: false, reason: 'the model gateway rejects the API key (HTTP 401)' })
    const gone = { ...change, baseUrl: 'http://127.0.0.1:1/v1' }
    const unreachable = await testDefaultModel(await saved.preview(gone), log, createUserCall())
    expect(unreachable.isOk).toBe(false)
    expect(unreachable.reason).toContain('unreachable')
  })
})
