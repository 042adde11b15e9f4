import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Environment, freezeEnvironment, resolveFileVariables, overrideVariables } from './environment.ts'
import { optionalTextSetting, parseSettings, secretSetting, signingKeySetting } from './setting.ts'

const afterRecheckMs = 1_001

describe('a variable with a file', () => {
  let directory: string
  let nowMs = 0
  const now = () => nowMs
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-config-'))
  })
  afterAll(() => rm(directory, { recursive: true }))
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  }

  it.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    [' two\nlines \n', ' two\nlines '],
    ['', ''],
  ])('is the content of the file without the final line break: %j', async (content, text) => {
    const env = resolveFileVariables({ CRON_SECRET_FILE: await write('line-end', content) }, now)
    expect(env.CRON_SECRET).toBe(text)
  })

  it('overrides the variable itself, and leaves others unchanged', async () => {
    const path = await write('both', 'from the file')
    const env = resolveFileVariables({ CRON_SECRET: 'plain', CRON_SECRET_FILE: path, OTHER: 'other' }, now)
    expect(env.CRON_SECRET).toBe('from the file')
    expect(env.CRON_SECRET_FILE).toBe(path)
    expect(env.OTHER).toBe('other')
    expect(env.ABSENT).toBeUndefined()
  })

  it('is read again after the file changed in place or was replaced, at most once a second', async () => {
    const path = await write('rotated', 'one')
    const env = resolveFileVariables({ CRON_SECRET_FILE: path }, now)
    expect(env.CRON_SECRET).toBe('one')
    await writeFile(path, 'second')
    expect(env.CRON_SECRET).toBe('one')
    nowMs += afterRecheckMs
    expect(env.CRON_SECRET).toBe('second')
    await rename(await write('next', 'third!'), path)
    nowMs += afterRecheckMs
    expect(env.CRON_SECRET).toBe('third!')
  })

  it('keeps its last text while the file is missing, and reads the new one when it is back', async () => {
    const path = await write('missing', 'one')
    const env = resolveFileVariables({ CRON_SECRET_FILE: path }, now)
    expect(env.CRON_SECRET).toBe('one')
    await rm(path)
    nowMs += afterRecheckMs
    expect(env.CRON_SECRET).toBe('one')
    await writeFile(path, 'two')
    nowMs += afterRecheckMs
    expect(env.CRON_SECRET).toBe('two')
  })

  it('is rejected if the file was never readable, so that no typing error disables a protection', () => {
    const env = resolveFileVariables(
      { CRON_SECRET: 'plain', CRON_SECRET_FILE: join(directory, 'no', 'such', 'file') },
      now,
    )
    expect(() => parseSettings({ CRON_SECRET: secretSetting('Guards.') }, env)).toThrow(
      'CRON_SECRET: cannot read the file set in CRON_SECRET_FILE; check its path and permissions',
    )
  })

  it('can contain a previous key', async () => {
    const variables = { KEY_FILE: await write('key', 'new\n'), KEY_PREVIOUS_FILE: await write('previous', 'old\n') }
    expect(parseSettings({ KEY: signingKeySetting('Signs.') }, resolveFileVariables(variables, now))).toEqual({
      KEY: { current: 'new', previous: 'old' },
    })
  })

  it('is read again in a frozen environment too', async () => {
    const path = await write('frozen', 'one')
    const env = resolveFileVariables({ CRON_SECRET_FILE: path, PLAIN: 'plain' }, now)
    const settings = { CRON_SECRET: secretSetting('Guards.'), PLAIN: optionalTextSetting('Is plain.') }
    freezeEnvironment(env)
    expect(parseSettings(settings, env)).toEqual({ CRON_SECRET: 'one', PLAIN: 'plain' })
    await writeFile(path, 'second')
    nowMs += afterRecheckMs
    expect(parseSettings(settings, env)).toEqual({ CRON_SECRET: 'second', PLAIN: 'plain' })
  })
})

describe('an environment', () => {
  const settings = { PLAIN: optionalTextSetting('Is plain.') }

  it('can be changed until it is frozen', () => {
    const env: Record<string, string | undefined> = { PLAIN: 'one' }
    expect(parseSettings(settings, env)).toEqual({ PLAIN: 'one' })
    env.PLAIN = 'two'
    expect(parseSettings(settings, env)).toEqual({ PLAIN: 'two' })
    freezeEnvironment(env)
    expect(() => (env.PLAIN = 'three')).toThrow(TypeError)
    expect(parseSettings(settings, env)).toEqual({ PLAIN: 'two' })
  })

  it('can be overridden without a change, even if it is frozen or reads a file', () => {
    const env = resolveFileVariables({ PLAIN: 'plain', SECRET_FILE: '/no/such/file', OTHER: 'other' })
    freezeEnvironment(env)
    const overridden = overrideVariables(env, { PLAIN: 'new', SECRET: 'given', FURTHER: 'further' })
    expect(
      parseSettings({ PLAIN: optionalTextSetting('Is plain.'), SECRET: secretSetting('Guards.') }, overridden),
    ).toEqual({
      PLAIN: 'new',
      SECRET: 'given',
    })
    expect([overridden.FURTHER, overridden.OTHER, env.PLAIN]).toEqual(['further', 'other', 'plain'])
  })

  it('is parsed independently of other environments', () => {
    const [one, two]: Environment[] = [{ PLAIN: 'one' }, { PLAIN: 'two' }]
    for (const env of [one, two]) if (env) freezeEnvironment(env)
    expect([one, two, one].map((env) => parseSettings(settings, env ?? {}).PLAIN)).toEqual(['one', 'two', 'one'])
  })
})
