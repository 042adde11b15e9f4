import { get } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startFakeProduct } from '../../testing/fake-product.ts'
import { signInRoutes } from '../../testing/identity-routes.ts'

type Variables = Record<string, string>

const gate = { SVC_TRUSTED_AUTH_SECRET: 'shared' }
const proof = { 'x-svc-proxy-secret': 'shared' }
const ada = { ...proof, 'x-forwarded-user': 'ada' }

const send = async (env: Variables, headers: Variables | [string, string][]) => {
  await using product = await startFakeProduct({ env: { SVC_AUTH_PROVIDER: 'trusted', ...env }, routes: signInRoutes })
  const response = await fetch(`${product.url}/api/v1/read`, { headers })
  const body: unknown = await response.json()
  return { status: response.status, body, logged: product.logged.join('\n') }
}

describe('a user of a trusted proxy', () => {
  it('has the fields of the headers', async () => {
    const env = { ...gate, SVC_TRUSTED_CUSTOM_HEADERS: 'team:X-Team,cost-centre:X-Cost, site:X-Site' }
    const { body } = await send(env, {
      ...ada,
      'x-forwarded-email': 'ada@example.com',
      'x-forwarded-preferred-username': Buffer.from('Ada Łovelace').toString('latin1'),
      'x-forwarded-avatar': 'https://pictures.example.com/ada.png',
      'x-forwarded-groups': 'ops, dba  readers,,ops',
      'x-forwarded-role': 'admin',
      'x-team': 'analytics',
      'x-cost': '42',
    })
    expect(body).toEqual({
      kind: 'user',
      subject: 'ada',
      features: 'all',
      profile: {
        name: 'Ada Łovelace',
        email: 'ada@example.com',
        avatar: 'https://pictures.example.com/ada.png',
        groups: ['ops', 'dba', 'readers', 'admin'],
        fields: { team: 'analytics', 'cost-centre': '42' },
      },
    })
  })

  it('is identified by the configured headers', async () => {
    const env = {
      ...gate,
      SVC_TRUSTED_SHARED_SECRET_HEADER: 'X-Proof',
      SVC_TRUSTED_USER_HEADER: 'X-User',
      SVC_TRUSTED_EMAIL_HEADER: 'X-Mail',
      SVC_TRUSTED_NAME_HEADER: 'X-Name',
      SVC_TRUSTED_AVATAR_HEADER: 'X-Picture',
      SVC_TRUSTED_GROUPS_HEADER: 'X-Groups',
      SVC_TRUSTED_ROLE_HEADER: 'X-Role',
    }
    const { body } = await send(env, {
      ...ada,
      'x-proof': 'shared',
      'x-user': 'grace',
      'x-mail': 'grace@example.com',
      'x-name': 'Grace',
      'x-picture': 'http://pictures/grace',
      'x-groups': 'navy',
      'x-role': 'admiral',
      'x-forwarded-groups': 'intruders',
    })
    expect(body).toMatchObject({
      subject: 'grace',
      profile: {
        email: 'grace@example.com',
        name: 'Grace',
        avatar: 'http://pictures/grace',
        groups: ['navy', 'admiral'],
      },
    })
  })

  it('is identified by email without a user header', async () => {
    const { body } = await send(gate, { ...proof, 'x-forwarded-email': 'ada@example.com' })
    expect(body).toMatchObject({ subject: 'ada@example.com', profile: { email: 'ada@example.com' } })
  })

  it.each<[number, string, Variables, Variables]>([
    [200, 'the secret is right', gate, ada],
    [401, 'the secret is wrong', gate, { ...ada, 'x-svc-proxy-secret': 'shared2' }],
    [401, 'the secret is missing', gate, { 'x-forwarded-user': 'ada' }],
    [401, 'the secret is empty', gate, { ...ada, 'x-svc-proxy-secret': '' }],
    [401, 'the proxy names no user', gate, proof],
    [401, 'the proxy names an empty subject', gate, { ...proof, 'x-forwarded-user': ' ' }],
    [401, 'the subject is longer than any', gate, { ...proof, 'x-forwarded-user': 'a'.repeat(257) }],
    [
      200,
      'the secret is the one before',
      { SVC_TRUSTED_AUTH_SECRET: 'new', SVC_TRUSTED_AUTH_SECRET_PREVIOUS: 'shared' },
      ada,
    ],
    [
      200,
      'the secret is the new one',
      { SVC_TRUSTED_AUTH_SECRET: 'shared', SVC_TRUSTED_AUTH_SECRET_PREVIOUS: 'old' },
      ada,
    ],
    [200, 'no secret is required', { SVC_TRUSTED_ALLOW_INSECURE: 'true' }, { 'x-forwarded-user': 'ada' }],
  ])('gets %i when %s', async (status, _what, env, headers) => {
    const answered = await send(env, headers)
    expect(answered.status).toBe(status)
    expect(answered.logged).not.toContain('shared2')
  })

  it.each([
    ['ops', 'Ops', 200],
    ['ops', 'dev OPS', 200],
    ['ops, dba', 'dba', 200],
    ['ops', 'dev', 403],
    ['ops', '', 403],
    ['ops', 'ops-readers', 403],
  ])('needs one of the groups %s: with %j the status is %i', async (allowed, groups, status) => {
    const { status: answered } = await send(
      { ...gate, SVC_TRUSTED_ALLOWED_GROUPS: allowed },
      { ...ada, 'x-forwarded-groups': groups },
    )
    expect(answered).toBe(status)
  })

  it('may have the group from the role header', async () => {
    const env = { ...gate, SVC_TRUSTED_ALLOWED_GROUPS: 'admin' }
    expect((await send(env, { ...ada, 'x-forwarded-role': 'Admin' })).status).toBe(200)
  })

  it.each(['x-forwarded-user', 'x-forwarded-email', 'x-forwarded-groups', 'x-forwarded-role', 'x-svc-proxy-secret'])(
    'is rejected when %s is repeated, as by a proxy that appends to the header of the caller',
    async (name) => {
      await using product = await startFakeProduct({
        env: { SVC_AUTH_PROVIDER: 'trusted', ...gate },
        routes: signInRoutes,
      })
      const headers = { ...ada, [name]: ['root', ada['x-forwarded-user']] }
      const { promise, resolve } = Promise.withResolvers<number | undefined>()
      get(`${product.url}/api/v1/read`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      expect(await promise).toBe(401)
    },
  )

  it.each(['javascript:alert(1)', 'data:image/png;base64,AAAA', `https://e.com/${'a'.repeat(2_048)}`])(
    'has no avatar with the URL %s',
    async (avatar) => {
      const { body } = await send(gate, { ...ada, 'x-forwarded-avatar': avatar })
      expect(body).toMatchObject({ subject: 'ada', profile: {} })
      expect(JSON.stringify(body)).not.toContain('avatar')
    },
  )
})

describe('the start', () => {
  it.each([
    [{}, /SVC_TRUSTED_AUTH_SECRET: is required/],
    [{ ...gate, SVC_TRUSTED_ALLOW_INSECURE: 'true' }, /SVC_TRUSTED_AUTH_SECRET: cannot be set together/],
  ])('fails with %j instead of exactly one trust gate', async (env, sentence) => {
    await expect(startFakeProduct({ env: { SVC_AUTH_PROVIDER: 'trusted', ...env } })).rejects.toThrow(sentence)
  })
})
