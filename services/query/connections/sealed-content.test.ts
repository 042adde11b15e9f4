import { describe, expect, it } from 'vitest'
import { InvalidSettings } from '#shared/config/setting.ts'
import { openStore } from '#shared/store/open.ts'
import { openConnectionKeys, openConnectionSealer } from './sealed-content.ts'

const target = { url: 'https://db.example.com', user: 'ada', password: 'secret' }
const called = { key: 'user:owner:id', name: 'mine' }
const forSession = { target, expiresAtMs: 1_000 }
const forSaving = { target, expiresAtMs: null }
const key = 'a key of at least sixteen characters'

const sealingWith = async (env: Record<string, string>) =>
  openConnectionSealer(openConnectionKeys(env, await openStore({ env: {}, busIsShared: false })))

describe('a sealed connection', () => {
  it('needs no setting for a session and opens in every process on the same store', async () => {
    const store = await openStore({ env: {}, busIsShared: false })
    const [one, other] = [
      openConnectionSealer(openConnectionKeys({}, store)),
      openConnectionSealer(openConnectionKeys({}, store)),
    ]
    const sealed = await one.seal(forSession, called)
    expect(sealed).not.toMatch(/ada|secret|example/)
    expect(await other.open({ ...called, sealed })).toEqual(forSession)
  })

  it('needs the operator key to be saved', async () => {
    const without = await sealingWith({})
    await expect(without.seal(forSaving, called)).rejects.toMatchObject({ code: 'not-implemented' })
    const sealed = await (await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key })).seal(forSaving, called)
    await expect(without.open({ ...called, sealed })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('opens after a rotation of the operator key', async () => {
    const before = await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key })
    const sealed = await before.seal(forSaving, called)
    const rotated = {
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: `another ${key}`,
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY_PREVIOUS: key,
    }
    expect(await (await sealingWith(rotated)).open({ ...called, sealed })).toEqual(forSaving)
    const forgotten = await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: `another ${key}` })
    await expect(forgotten.open({ ...called, sealed })).rejects.toMatchObject({ code: 'conflict' })
  })

  it.each([{ key: 'user:other:id' }, { name: 'theirs' }])(
    'does not open for another key or name: %j',
    async (changed) => {
      const sealing = await sealingWith({})
      const sealed = await sealing.seal(forSession, called)
      await expect(sealing.open({ ...called, ...changed, sealed })).rejects.toMatchObject({ code: 'invalid' })
    },
  )

  it('does not open as saved when it belongs to a session', async () => {
    const sealing = await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key })
    const sealed = (await sealing.seal(forSession, called)).replace(/^session/, 'kept')
    await expect(sealing.open({ ...called, sealed })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is rejected as an unknown session when its text is forged', async () => {
    const sealing = await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key })
    const forged = { ...called, sealed: `abcdefgh.${'v'.repeat(40)}` }
    const unknown = { code: 'invalid', details: { reason: 'session-unknown' } }
    await expect(sealing.open(forged)).rejects.toMatchObject(unknown)
  })

  it('is not sealed with a short operator key', async () => {
    const short = await sealingWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'short' })
    await expect(short.seal(forSaving, called)).rejects.toThrow(InvalidSettings)
  })
})
