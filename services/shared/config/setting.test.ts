import { describe, expect, it } from 'vitest'
import {
  InvalidSettings,
  type Setting,
  formatClientName,
  exactTextSetting,
  flagSetting,
  listSetting,
  optionalFlagSetting,
  choiceSetting,
  optionalTextSetting,
  findSettingProblems,
  parseSettings,
  secretSetting,
  listSecretNames,
  signingKeySetting,
  textSetting,
  urlSetting,
  wholeNumberSetting,
} from './setting.ts'

const valueOf = <T>(setting: Setting<T>, given: string | undefined): T =>
  parseSettings({ NAME: setting }, { NAME: given }).NAME

describe('a boolean', () => {
  it.each([
    ...['true', '1', 'yes', 'on', 'TRUE', 'Yes', ' on '].map((word) => [word, true] as const),
    ...['false', '0', 'no', 'off', 'FALSE', 'No', ' off '].map((word) => [word, false] as const),
    ...['cloud', 'enabled', '2', 'y', 'truee', '', ' ', undefined].map((word) => [word, undefined] as const),
  ])('reads %j as %j, where undefined is the default', (given, expected) => {
    expect(valueOf(optionalFlagSetting('A flag.'), given)).toBe(expected)
    expect(valueOf(flagSetting(true, 'A flag.'), given)).toBe(expected ?? true)
    expect(valueOf(flagSetting(false, 'A flag.'), given)).toBe(expected ?? false)
  })

  it('can have more words for true', () => {
    expect(valueOf(flagSetting(false, 'Cloud.', { alsoTrue: ['cloud'] }), 'Cloud')).toBe(true)
    expect(valueOf(optionalFlagSetting('Cloud.', { alsoTrue: ['cloud'] }), 'clouds')).toBeUndefined()
  })

  it.each([
    ['true', true],
    ['True', false],
    ['1', false],
    ['yes', false],
    [' true', false],
    ['', false],
    [undefined, false],
  ])('that requires exactly true parses %j as %j', (given, expected) => {
    expect(valueOf(exactTextSetting('true', 'Management.'), given)).toBe(expected)
  })
})

describe('a value', () => {
  const size = wholeNumberSetting(10, 'Size.', { min: 1, max: 99 })
  const lenient = wholeNumberSetting(60, 'Minutes.', { lenient: true })
  const level = choiceSetting(['info', 'error'], 'info', 'Level.')
  const address = urlSetting('Address.', { protocols: ['https'] })

  it.each([
    ['text', textSetting('none', 'Text.'), ' kept ', ' kept '],
    ['text, unset', textSetting('none', 'Text.'), '', 'none'],
    ['optional, unset', optionalTextSetting('Text.'), '', undefined],
    ['a number', size, ' 42 ', 42],
    ['a number, unset', size, undefined, 10],
    ['a number that takes its default for nonsense', lenient, 'soon', 60],
    ['a number that takes its default below its bound', lenient, '-1', 60],
    ['a word', level, ' ERROR ', 'error'],
    ['a list', listSetting('List.'), ' a, ,b ,', ['a', 'b']],
    ['a list, unset', listSetting('List.'), undefined, []],
    ['a URL, unset', address, undefined, undefined],
  ])('reads %s', (_, setting, given, expected) => {
    expect(valueOf<unknown>(setting, given)).toEqual(expected)
  })

  it('parses a URL with one of its protocols', () => {
    expect(valueOf(address, 'https://example.org/x')?.href).toBe('https://example.org/x')
  })

  it.each([
    ['a number above its bound', size, '100', 'must be a whole number 1–99'],
    ['a number with a fraction', size, '1.5', 'must be a whole number 1–99'],
    ['a number in another notation', size, '1e1', 'must be a whole number 1–99'],
    ['an unknown word', level, 'loud', 'must be one of info, error'],
    ['a URL of another protocol', address, 'http://example.org', 'must be an absolute URL with https'],
    ['a relative URL', address, '/x', 'must be an absolute URL with https'],
    [
      'a URL whose password was read as port and path',
      urlSetting('Address.', { protocols: ['redis'] }),
      'redis://u:1/x@host',
      'must percent-encode the characters /, ? and # in its password',
    ],
  ])('rejects %s with a message', (_, setting, given, sentence) => {
    expect(findSettingProblems({ NAME: setting }, { NAME: given })).toEqual([{ name: 'NAME', sentence }])
  })
})

describe('settings', () => {
  const settings = {
    SIZE: wholeNumberSetting(10, 'Size.'),
    LEVEL: choiceSetting(['info', 'error'], 'info', 'Level.'),
    ADDRESS: urlSetting('Address.', { protocols: ['https'], audience: 'secret' }),
    FINE: textSetting('', 'Text.'),
  }

  it('report all problems at once, and no value of a secret', () => {
    const env = { SIZE: 'big', LEVEL: 'loud', ADDRESS: 'http://user:marked@host', FINE: 'fine' }
    const refused = (): unknown => parseSettings(settings, env)
    expect(refused).toThrow(InvalidSettings)
    expect(findSettingProblems(settings, env).map(({ name }) => name)).toEqual(['SIZE', 'LEVEL', 'ADDRESS'])
    expect(refused).toThrow(/^SIZE: .+\nLEVEL: .+\nADDRESS: .+$/)
    expect(refused).not.toThrow(/marked/)
  })

  it('have no problem with an empty environment', () => {
    expect(findSettingProblems(settings, {})).toEqual([])
    expect(parseSettings(settings, {})).toEqual({ SIZE: 10, LEVEL: 'info', ADDRESS: undefined, FINE: '' })
  })
})

describe('a signing key', () => {
  const settings = { KEY: signingKeySetting('Signs.') }

  it.each([
    [{}, undefined],
    [{ KEY: '', KEY_PREVIOUS: '' }, undefined],
    [{ KEY: 'new' }, { current: 'new', previous: undefined }],
    [
      { KEY: 'new', KEY_PREVIOUS: '' },
      { current: 'new', previous: undefined },
    ],
    [
      { KEY: 'new', KEY_PREVIOUS: 'old' },
      { current: 'new', previous: 'old' },
    ],
  ])('has the previous key: %j', (env, expected) => {
    expect(parseSettings(settings, env).KEY).toEqual(expected)
  })

  it('is rejected if only the previous key is set', () => {
    expect(findSettingProblems(settings, { KEY_PREVIOUS: 'old' })).toEqual([
      { name: 'KEY', sentence: expect.stringContaining('only the current key signs') },
    ])
  })
})

describe('a secret', () => {
  const settings = {
    CRON_SECRET: secretSetting('Guards.'),
    SVC_API_KEY_SECRET: signingKeySetting('Signs.'),
    REDIS_URL: urlSetting('State.', { protocols: ['redis'], audience: 'secret' }),
    SVC_EDITION: optionalTextSetting('Edition.', { audience: 'client' }),
    PORT: wholeNumberSetting(3000, 'Port.'),
  }

  it('is hidden by its name, like the previous one', () => {
    expect(listSecretNames(settings)).toEqual([
      'CRON_SECRET',
      'SVC_API_KEY_SECRET',
      'SVC_API_KEY_SECRET_PREVIOUS',
      'REDIS_URL',
    ])
  })

  it.each(['CLIENT_CRON_SECRET', 'CLIENT_API_KEY_SECRET', 'CLIENT_API_KEY_SECRET_PREVIOUS', 'CLIENT_REDIS_URL'])(
    'is refused the form %s',
    (name) => {
      expect(findSettingProblems(settings, { [name]: 'marked' })).toEqual([
        { name, sentence: 'would expose a secret to the browser; unset it' },
      ])
    },
  )

  it('does not reject the client name of a public setting', () => {
    expect(formatClientName('SVC_EDITION')).toBe('CLIENT_EDITION')
    expect(findSettingProblems(settings, { CLIENT_EDITION: 'community' })).toEqual([])
  })
})

describe('settings that are read repeatedly', () => {
  const open = (env: Record<string, string>) => {
    let parsed = 0
    const counted: Setting<number> = {
      ...wholeNumberSetting(1, 'A number.'),
      parse: (given) => {
        parsed += 1
        return wholeNumberSetting(1, 'A number.').parse(given)
      },
    }
    const settings = { A: counted, B: counted }
    return { env, values: () => parseSettings(settings, env), parsed: () => parsed }
  }

  it('are parsed once while they do not change', () => {
    const { values, parsed } = open({ A: '2' })
    for (let time = 0; time < 3; time += 1) expect(values()).toEqual({ A: 2, B: 1 })
    expect(parsed()).toBe(2)
  })

  it('are parsed again after a variable changed', () => {
    const { env, values } = open({ A: '2' })
    values()
    env.B = '3'
    expect(values()).toEqual({ A: 2, B: 3 })
    delete env.A
    expect(values()).toEqual({ A: 1, B: 3 })
  })

  it('are parsed again after a previous key changed', () => {
    const settings = { KEY: signingKeySetting('A key.') }
    expect(parseSettings(settings, { KEY: 'new' }).KEY).toEqual({ current: 'new', previous: undefined })
    expect(parseSettings(settings, { KEY: 'new', KEY_PREVIOUS: 'old' }).KEY).toEqual({
      current: 'new',
      previous: 'old',
    })
  })

  it('are rejected only while one of them is invalid', () => {
    const { env, values } = open({ A: '2' })
    values()
    env.A = 'many'
    expect(values).toThrow('A: must be')
    expect(values).toThrow('A: must be')
    env.A = '2'
    expect(values()).toEqual({ A: 2, B: 1 })
  })

  it('cannot be changed by a reader', () => {
    const { values } = open({ A: '2' })
    expect(Object.isFrozen(values())).toBe(true)
  })
})
