import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import type { Deployment } from '#proto/deployments.ts'
import { ConfigResponse } from '#proto/http/config.ts'
import { RepositoryHookResponse } from '#proto/http/deployments.ts'
import type { ValidRequest } from '../testing/valid-requests.ts'
import { repositoryEvents, createSignedEvent } from '../testing/repository-host.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const secret = 'secret of the webhook'
const { deployment, ended, release, push } = repositoryEvents
const nowMs = Date.parse('2026-09-21T16:00:00Z')

const open = async (env: Record<string, string> = { REPO_HOST_WEBHOOK_SECRET: secret }) => {
  const kept: Deployment[] = []
  const storeDeployment = async (one: Deployment) => {
    kept.push(one)
    return {}
  }
  const product = await startFakeProduct({ env, ingest: { storeDeployment }, clock: createClock(() => nowMs) })
  const send = async ({ url, raw, headers }: ValidRequest) => {
    const response = await fetch(product.url + url, { method: 'POST', body: raw ?? '', headers: headers ?? {} })
    return { status: response.status, text: await response.text() }
  }
  return { product, kept, send, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('the webhook of a repository host', () => {
  it.each<[string, string, object, Partial<Deployment>]>([
    [
      'a deployment',
      'deployment',
      deployment,
      {
        id: 'deployment:7:1',
        repository: 'acme/shop',
        version: 'main a1b2c3d',
        environment: 'production',
        outcome: null,
        title: 'main a1b2c3d to production',
        by: 'grace',
        atMs: Date.parse('2026-09-21T14:00:00Z'),
      },
    ],
    [
      'its end, under the same name',
      'deployment_status',
      ended('failure'),
      {
        id: 'deployment:7:1',
        outcome: 'failure',
        url: 'https://ci.example/runs/1',
        atMs: Date.parse('2026-09-21T14:05:00Z'),
      },
    ],
    [
      'a release',
      'release',
      release('published'),
      { id: 'release:7:3', version: 'v1.2.0', title: 'v1.2.0', by: 'ada' },
    ],
    [
      'a push to the default branch',
      'push',
      push('refs/heads/main'),
      { kind: 'push', title: 'Pay twice as fast', version: 'main a1b2c3d', atMs: 1_790_002_800_000 },
    ],
    [
      'a push without a time',
      'push',
      push('refs/heads/main', { repository: { ...deployment.repository } }),
      { atMs: nowMs },
    ],
  ])('stores %s', async (_what, event, payload, expected) => {
    await using rig = await open()
    const { status, text } = await rig.send(createSignedEvent(payload, { secret, event }))
    expect([status, RepositoryHookResponse.parse(JSON.parse(text)).data]).toEqual([200, { kept: true, reason: null }])
    expect(rig.kept).toMatchObject([expected])
  })

  it('accepts a form, and the previous secret during rotation', async () => {
    await using rig = await open({ REPO_HOST_WEBHOOK_SECRET: 'new', REPO_HOST_WEBHOOK_SECRET_PREVIOUS: secret })
    const sent = createSignedEvent(release('published'), { secret, event: 'release', asForm: true })
    expect(await rig.send(sent)).toMatchObject({ status: 200 })
    expect(rig.kept).toMatchObject([{ id: 'release:7:3' }])
  })

  it('accepts a clock that is ahead', async () => {
    await using rig = await open()
    const payload = {
      ...release('published'),
      release: { ...release('x').release, published_at: '2030-01-01T00:00:00Z' },
    }
    await rig.send(createSignedEvent(payload, { secret, event: 'release' }))
    expect(rig.kept).toMatchObject([{ atMs: nowMs }])
  })

  it.each<[string, object, string]>([
    ['ping', { zen: 'Keep it logically awesome.' }, 'ping received'],
    ['issues', { action: 'opened' }, 'event "issues" ignored'],
    ['constructor', {}, 'event "constructor" ignored'],
    ['deployment_status', ended('in_progress'), 'has not ended'],
    ['release', release('edited'), 'publication'],
    ['push', push('refs/heads/topic'), 'default branch'],
    ['push', push('refs/tags/main'), 'default branch'],
    ['push', push('refs/heads/main', { deleted: true, head_commit: null }), 'no commit'],
  ])('ignores %s that charts do not annotate: %j', async (event, payload, says) => {
    await using rig = await open()
    const { status, text } = await rig.send(createSignedEvent(payload, { secret, event }))
    expect(status).toBe(200)
    expect(RepositoryHookResponse.parse(JSON.parse(text)).data).toMatchObject({
      kept: false,
      reason: expect.stringContaining(says),
    })
    expect(rig.kept).toEqual([])
  })

  it('is rejected while no secret is set', async () => {
    await using rig = await open({})
    const answered = await rig.send(createSignedEvent(deployment, { secret: '', event: 'deployment' }))
    expect(answered).toMatchObject({ status: 503, text: expect.stringContaining('REPO_HOST_WEBHOOK_SECRET') })
  })

  const good = createSignedEvent(deployment, { secret, event: 'deployment' })
  const withHeaders = (more: Record<string, string>): ValidRequest => ({
    ...good,
    headers: { ...good.headers, ...more },
  })
  const wrong = (payload: object | string, event = 'deployment') => createSignedEvent(payload, { secret, event })
  it.each<[string, ValidRequest, number, string]>([
    [
      'with another secret',
      createSignedEvent(deployment, { secret: 'x', event: 'deployment' }),
      401,
      'X-Hub-Signature-256',
    ],
    ['without a signature', withHeaders({ 'x-hub-signature-256': '' }), 401, 'X-Hub-Signature-256'],
    ['with a signature of another kind', withHeaders({ 'x-hub-signature-256': 'sha1=00' }), 401, 'X-Hub-Signature-256'],
    ['whose body was changed', { ...good, raw: `${good.raw} ` }, 401, 'X-Hub-Signature-256'],
    ['of no event', createSignedEvent(deployment, { secret }), 400, 'X-GitHub-Event'],
    ['of another type', withHeaders({ 'content-type': 'text/plain' }), 415, 'application/json'],
    ['that is no JSON', wrong('{'), 400, 'not JSON'],
    ['of no repository', wrong({ deployment: deployment.deployment }), 400, 'repository'],
    [
      'of no time',
      wrong({ ...deployment, deployment: { ...deployment.deployment, created_at: 'now' } }),
      400,
      'created_at',
    ],
    ['of no commit', wrong(push('refs/heads/main', { after: '' }), 'push'), 400, 'after'],
  ])('is rejected %s', async (_what, request, status, says) => {
    await using rig = await open()
    expect(await rig.send(request)).toMatchObject({ status, text: expect.stringContaining(says) })
    expect(rig.kept).toEqual([])
  })

  it('is announced in the config, so that charts request annotations', async () => {
    await using rig = await open()
    await using shut = await open({})
    const offers = async ({ product }: typeof rig) =>
      ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json()).data.offers.deployments
    expect([await offers(rig), await offers(shut)]).toEqual([true, false])
  })

  it.each([
    ['from=9&to=3', 'to must be later than from'],
    ['limit=0', 'limit'],
    ['host=1', 'host'],
  ])('validates the parameters of deployments: %s', async (search, says) => {
    await using rig = await open()
    const response = await fetch(`${rig.product.url}/api/v1/deployments?${search}`)
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(says)])
  })
})
